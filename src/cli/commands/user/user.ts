import type { Ctx } from "../../../server/context.ts";
import type { getUser } from "../../../server/modules/users/service.ts";
import { parseEmail } from "../../../server/values/email.ts";
import { recordArgs, type StoreArgs } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { deliverSecret, type NewPassword } from "../../secrets/secrets.ts";
import { type Console, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";

export type User = Awaited<ReturnType<typeof getUser>>;

const load = async () => (await import("../../../server/modules/users/list.ts")).resolveUserId;
export const user = recordArgs("user", "user", "Id or email of the user", load);

export async function findUser(ctx: Ctx, named: string | undefined): Promise<string | undefined> {
  return named === undefined ? undefined : user.find(ctx, named);
}

export const userFlags = {
  name: valueArg("text", "Name of the user", { allowEmpty: true }),
  phone: valueArg("number", "Phone number", { allowEmpty: true }),
  role: choiceArg(
    ["customer", "staff", "owner"],
    "Role: customers buy, staff manage the store, owners also manage staff",
  ),
  lang: valueArg("tag", "Language of mail to the user, such as en or pt-BR"),
  "email-verified": choiceArg(["yes", "no"], "Whether the email is verified"),
} as const satisfies CommandArgs;

export const newUserArgs = {
  namespace: requiredNamespaceArg,
  email: valueArg("address", "Email to sign in with", {
    required: true,
    check: (text: string) => parseEmail("email", text),
  }),
  ...userFlags,
} as const satisfies CommandArgs;

export function readUserFlags({ name, phone, role, lang, "email-verified": verified }: ArgValues<typeof userFlags>) {
  return { name, phone, role, lang, email_verified: verified && verified === "yes" };
}

export function toUserRecord({ id, ...rest }: User) {
  return { user_id: id, ...rest };
}

export function printUser(console: Console, user: User): Promise<void> {
  return printRecord(console, toUserRecord(user));
}

/** Makes a change, and asks first if it would remove the last active owner. */
export async function changeUser<T>(
  args: StoreArgs & { user: string },
  console: Console,
  change: (ctx: Ctx, id: string) => Promise<T>,
): Promise<T> {
  try {
    return await user.withRecord(args, console, change);
  } catch (error) {
    const { isLastOwner } = await import("../../../server/modules/users/guards.ts");
    if (!isLastOwner(error)) throw error;
    const question = `${args.user} is the last active owner of store ${args.namespace}. Continue without an owner?`;
    await confirmAction(console, question);
    return user.withRecord(args, console, (ctx, id) =>
      change({ ...ctx, actor: Object.assign({}, ctx.actor, { endsOwners: true }) }, id),
    );
  }
}

/** Sets a password and prints the user. A generated password is delivered once: to a file, or on standard output. */
export async function deliverPassword(
  args: { "save-password-to": string | undefined },
  console: Console,
  { password, isRandom }: NewPassword,
  change: () => Promise<User>,
): Promise<void> {
  if (!isRandom) return printUser(console, await change());
  const shape = { kind: "password", secretField: "password", separator: ":" } as const;
  const make = async () => ({ ...toUserRecord(await change()), password });
  await deliverSecret(console, args["save-password-to"], shape, make);
}
