import type { Ctx } from "../../../server/context.ts";
import type { getUser } from "../../../server/modules/users/service.ts";
import { withTenant } from "../../context/context.ts";
import type { SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { NewPassword } from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";

export type User = Awaited<ReturnType<typeof getUser>>;
type UserArgs = SharedValues & { namespace: string; user: string };
type UserWork<T> = (ctx: Ctx, id: string) => Promise<T>;

export function toUserRecord({ id, ...rest }: User) {
  return { user_id: id, ...rest };
}

/** Runs work on the user with this id or email. Errors: notFound. */
export function withUser<T>(args: UserArgs, console: Console, work: UserWork<T>): Promise<T> {
  return withTenant(args, console, async (ctx) => {
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    return work(ctx, await resolveUserId(ctx, args.user));
  });
}

/** As `withUser`, for a change that may end the last active owner, and asks before it does. */
export async function changeUser<T>(args: UserArgs, console: Console, change: UserWork<T>): Promise<T> {
  try {
    return await withUser(args, console, change);
  } catch (error) {
    const { isLastOwner } = await import("../../../server/modules/users/guards.ts");
    if (!isLastOwner(error)) throw error;
    const question = `${args.user} is the last active owner of store ${args.namespace}. Continue without an owner?`;
    await confirmAction(console, question);
    return withUser(args, console, (ctx, id) =>
      change({ ...ctx, actor: Object.assign({}, ctx.actor, { endsOwners: true }) }, id),
    );
  }
}

export function printUser(console: Console, user: User): Promise<void> {
  return printRecord(console, toUserRecord(user), "user_id");
}

/** Sets a password and prints the user. A generated password is delivered once: to a file, or on standard output. */
export async function deliverPassword(
  args: { namespace: string; "save-password-to": string | undefined },
  console: Console,
  { password, isRandom }: NewPassword,
  change: () => Promise<User>,
): Promise<void> {
  if (!isRandom) return printUser(console, await change());
  const shape = {
    flag: "--save-password-to",
    idField: "user_id",
    secretField: "password",
    separator: ":",
    renew: ({ user_id }: { user_id: string; password: string }) =>
      `user set-password -n ${args.namespace} ${user_id} --random-password`,
  } as const;
  await deliverSecret(console, args["save-password-to"], shape, async () => ({
    ...toUserRecord(await change()),
    password,
  }));
}
