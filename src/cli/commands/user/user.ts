import type { Ctx } from "../../../server/context.ts";
import { AppError } from "../../../server/errors.ts";
import type { getUser } from "../../../server/modules/users/service.ts";
import { recordArgs, withTenant } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, type SharedValues, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { deliverSecret, resolvePassword } from "../../secrets/secrets.ts";
import { type Console, invalidFlag, printJson, printRecord, warn } from "../../terminal/console.ts";
import { askText, confirmAction, confirmName } from "../../terminal/prompt.ts";

const users = () => import("../../../server/modules/users/service.ts");
const personalData = () => import("../../../server/modules/personal-data/service.ts");

export type User = Awaited<ReturnType<typeof getUser>>;

const load = async () => (await import("../../../server/modules/users/list.ts")).resolveUserId;
export const user = recordArgs("user", "user", "Id or email of the user", load);

export async function findUser(ctx: Ctx, named: string | undefined): Promise<string | undefined> {
  return named === undefined ? undefined : user.find(ctx, named);
}

export const toUserRecord = ({ id, ...rest }: User) => ({ user_id: id, ...rest });

export const printUser = (console: Console, user: User) => printRecord(console, toUserRecord(user));

/** Sets a new password and prints the user. Delivers a generated password once: to a file, or on standard output. */
export async function deliverPassword(
  args: Parameters<typeof resolvePassword>[0],
  console: Console,
  change: (secret: { password: string }) => Promise<User>,
): Promise<void> {
  const { isRandom, password } = await resolvePassword(args, console);
  if (!isRandom) return printUser(console, await change({ password }));
  const make = async () => ({ ...toUserRecord(await change({ password })), password });
  await deliverSecret(console, args["save-password-to"], { secretField: "password" }, make);
}

const personArgs = {
  ...user.args,
  user: { ...user.args.user, required: false },
  email: valueArg("address", "Email of a guest, who has orders but no account"),
} as const satisfies CommandArgs;

export const exportCommand = defineCommand({
  description: "Print all stored data of a person, as JSON",
  args: personArgs,
  examples: ["bodega user export -n demo ada@example.com > ada.json"],
  notes: ["Passwords and other secrets are left out. The export is recorded in the audit log."],
  oneOf: ["user", "email"],
  async run({ user: named, email, ...args }, console) {
    if (email !== undefined) {
      const { exportGuest } = await personalData();
      return printJson(console, await withTenant(args, console, (ctx) => exportGuest(ctx, email)));
    }
    const { exportPerson } = await personalData();
    await printJson(console, await user.withRecord({ ...args, user: named as string }, console, exportPerson));
  },
});

const removalArgs = {
  ...user.args,
  confirm: valueArg("email", "The user's email, to confirm without a terminal"),
} as const satisfies CommandArgs;

async function removeUser(
  args: ArgValues<typeof removalArgs> & SharedValues,
  console: Console,
  effect: string,
  remove: (ctx: Ctx, id: string) => Promise<void>,
) {
  const found = await user.withRecord(args, console, (await users()).getUser);
  const warning = `This permanently deletes user ${found.email} (${found.id}) and ${effect}.`;
  await confirmName(console, warning, found.email, args.confirm);
  await user.withRecord(args, console, remove);
  return toUserRecord(found);
}

export const deleteCommand = defineCommand({
  description: "Delete a user permanently and end all their sessions",
  args: removalArgs,
  examples: ["bodega user delete -n demo ada@example.com --confirm ada@example.com"],
  notes: [
    "Orders of the user keep customer and contact; `bodega user erase` removes these too. --yes does not confirm a deletion.",
  ],
  done: "Deleted user {email}.",
  async run(args, console) {
    const { deleteUser } = await users();
    const remove = (ctx: Ctx, id: string) => deleteUser(ctx, id, null);
    const deleted = await removeUser(args, console, "all their personal data", remove);
    await printRecord(console, { ...deleted, status: "deleted" });
  },
});

export const eraseCommand = defineCommand({
  description: "Erase a person: delete the user and remove them from orders and logs",
  args: { ...removalArgs, ...personArgs },
  examples: ["bodega user erase -n demo ada@example.com --confirm ada@example.com"],
  notes: [
    "All orders of the person must be completed, cancelled or expired. The orders keep numbers, items and amounts, and lose customer, " +
      "contact and notes. Tax law demands that paid orders keep name and addresses for some years: see `bodega tenant update " +
      "--keep-invoices`. Earlier backups still contain the person.",
  ],
  oneOf: ["user", "email"],
  done: "Erased user {user_id}.",
  async run({ user: named, email, ...args }, console) {
    if (email !== undefined) {
      const warning = `This permanently removes ${email} from the orders, withdrawals and mails of guests.`;
      await confirmName(console, warning, email, args.confirm);
      const { eraseGuest } = await personalData();
      await withTenant(args, console, (ctx) => eraseGuest(ctx, email));
      return printRecord({ ...console, done: "Erased {email}." }, { email, status: "erased" });
    }
    const { eraseUser } = await personalData();
    const given = { ...args, user: named as string };
    const { user_id } = await removeUser(given, console, "removes them from orders and logs", eraseUser);
    await printRecord(console, { user_id, status: "erased" });
  },
});

/** These parameters are the defaults of authenticator apps. Without them, the QR code fits a screen of 24 lines. */
const defaults = /&(?:algorithm=SHA1|digits=6|period=30)(?=&|$)/g;

/** Shows a secret as text, and as a QR code if the terminal is wide enough. The code is always black on white. */
async function showSecret(console: Console, { secret, otpauth_uri: uri }: { secret: string; otpauth_uri: string }) {
  const { encodeQR } = await import("qr");
  const drawn = encodeQR(uri.replace(defaults, ""), "ascii", { ecc: "low", border: 2 }).trimEnd();
  const isNarrow = drawn.indexOf("\n") <= (console.screen?.columns ?? 0);
  const code = isNarrow ? drawn.replaceAll(/^.+$/gm, "\u001b[97;40m$&\u001b[0m") : uri;
  const typed = secret.replace(/.{4}(?=.)/g, "$& ");
  await console.writeError(`In the authenticator, scan this or type ${typed}\n${code}\n`);
}

export const twoFactorCommand = defineCommand({
  description: "Enable two-factor sign-in for a user, with a QR code",
  args: {
    ...user.args,
    "print-secret": { type: "boolean", description: "Print the authenticator's secret; confirm it later with --code" },
    code: valueArg("digits", "Confirm with the code that the authenticator shows", { field: "otp" }),
  },
  examples: ["bodega user two-factor -n demo ada@example.com"],
  notes: [
    "At a terminal, the command shows a QR code, asks for a code of the authenticator, and prints ten recovery codes, once. " +
      "Without a terminal, run it twice: with --print-secret, then within an hour with --code. It does not ask for the user's password.",
  ],
  exclusive: [["print-secret", "code"]],
  done: "Enabled two-factor sign-in of user {email}.",
  async run(args, console) {
    const { "print-secret": isPrinted, code } = args;
    const isMissing = !isPrinted && code === undefined && !console.canAsk;
    if (isMissing) throw invalidFlag("--print-secret", "or --code is required without a terminal");
    const { beginTwoFactor, confirmTwoFactor } = await import("../../../server/modules/two-factor/enrolment.ts");
    if (code === undefined) {
      const { qr_svg: _, ...begun } = await user.withRecord(args, console, async (ctx, userId) => {
        return { user_id: userId, ...(await beginTwoFactor(ctx, { userId })) };
      });
      if (isPrinted) return printRecord({ ...console, done: undefined }, begun, "secret");
      await showSecret(console, begun);
    }
    let enabled: object = {};
    const confirm = async (otp: string) => {
      // A text that cannot be a code is refused here, so that it does not count as a wrong try.
      if (code === undefined && !/^(?:\d ?){6}$/.test(otp)) throw invalidFlag("--code", "must be six digits");
      enabled = await user.withRecord(args, console, async (ctx, userId) => {
        const recovery_codes = await confirmTwoFactor(ctx, { otp, userId }).catch((error) => {
          if (!(error instanceof AppError) || error.kind !== "invalidLogin") throw error;
          throw invalidFlag("--code", "is not the current code of the authenticator");
        });
        return { user_id: userId, email: (await (await users()).getUser(ctx, userId)).email, recovery_codes };
      });
    };
    if (code === undefined) await askText("Code that the authenticator shows", { check: confirm });
    else await confirm(code);
    await printRecord(console, enabled, "recovery_codes");
    if (!console.json) await warn(console, "Save the recovery codes now. They won't be shown again.");
  },
});

export const resetTwoFactorCommand = defineCommand({
  description: "Disable two-factor sign-in for a user who lost the authenticator",
  args: user.args,
  examples: ["bodega user reset-two-factor -n demo ada@example.com --yes"],
  notes: ["The user can then sign in with the password alone, and enable two-factor sign-in again."],
  done: "Disabled two-factor sign-in of user {email}.",
  async run(args, console) {
    const question = `Disable two-factor sign-in of ${args.user}? The password alone is then enough to sign in.`;
    await confirmAction(console, question);
    const { resetTwoFactor } = await import("../../../server/modules/two-factor/service.ts");
    const wasOn = await user.withRecord(args, console, resetTwoFactor);
    const done = wasOn ? console.done : "Two-factor sign-in was not enabled. Nothing was changed.";
    await printUser({ ...console, done }, await user.withRecord(args, console, (await users()).getUser));
  },
});
