import type { Ctx } from "../../../server/context.ts";
import { parseEmail } from "../../../server/values/email.ts";
import { recordArg } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, choiceArg, valueArg } from "../../framework/args.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";

export const userArgs = {
  user: recordArg("user", "Id or email of the user", findUser),
  namespace: requiredNamespaceArg,
};

export const userFlags = {
  name: { ...valueArg("text", "Name of the user"), allowEmpty: true },
  phone: { ...valueArg("number", "Phone number"), allowEmpty: true },
  role: choiceArg(
    ["customer", "staff", "owner"],
    "Role: customers buy, staff manage the store, owners also manage staff",
  ),
  lang: valueArg("tag", "Language of mail to the user, such as en or pt-BR"),
  "email-verified": choiceArg(["yes", "no"], "Whether the email is verified"),
} as const satisfies CommandArgs;

export const newUserArgs = {
  namespace: requiredNamespaceArg,
  email: {
    ...valueArg("address", "Email to sign in with"),
    required: true,
    check: (text: string) => parseEmail("email", text),
  },
  ...userFlags,
} as const satisfies CommandArgs;

/** The id of the user that a flag names by id or email. Errors: notFound. */
export async function findUser(ctx: Ctx, user: string | undefined): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
  return resolveUserId(ctx, user);
}

export function readUserFlags(args: ArgValues<typeof userFlags>) {
  return {
    name: args.name,
    phone: args.phone,
    role: args.role,
    lang: args.lang,
    email_verified: args["email-verified"] && args["email-verified"] === "yes",
  };
}
