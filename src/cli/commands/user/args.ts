import type { Ctx } from "../../../server/context.ts";
import { recordArg } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, choiceArg, valueArg } from "../../framework/args.ts";

export const userArg = recordArg("user", "Id or email of the user", findUser);

/** Fields of a user besides the email. */
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

/** The id of the user that a flag names by id or email. Errors: notFound. */
export async function findUser(ctx: Ctx, user: string | undefined): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
  return resolveUserId(ctx, user);
}

/** The user's fields for the service. */
export function readUserFlags(args: ArgValues<typeof userFlags>) {
  return {
    name: args.name,
    phone: args.phone,
    role: args.role,
    lang: args.lang,
    email_verified: args["email-verified"] && args["email-verified"] === "yes",
  };
}
