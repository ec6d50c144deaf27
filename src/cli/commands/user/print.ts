import type { Ctx } from "../../../server/context.ts";
import type { getUser } from "../../../server/modules/users/service.ts";
import { withTenant } from "../../context/context.ts";
import type { SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { printRecord } from "../../terminal/output.ts";

/** A user as the services return it. */
export type User = Awaited<ReturnType<typeof getUser>>;
type UserArgs = SharedValues & { namespace: string; user: string };

/** A user in JSON: the API's record with `user_id` as its id. */
export type UserRecord = { user_id: string } & Omit<User, "id">;

export function toUserRecord({ id, ...rest }: User): UserRecord {
  return { user_id: id, ...rest };
}

/**
 * Runs work on the user with this id or email.
 * @throws notFound for an unknown user.
 */
export function withUser<T>(args: UserArgs, console: Console, work: (ctx: Ctx, id: string) => Promise<T>): Promise<T> {
  return withTenant(args, console, async (ctx) => {
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    return work(ctx, await resolveUserId(ctx, args.user));
  });
}

export function printUser(console: Console, user: User): Promise<void> {
  return printRecord(console, toUserRecord(user), "user_id");
}

/** Sets a generated password and delivers it once: to a file, or on standard output. */
export async function deliverPassword(
  args: { namespace: string; "save-password-to": string | undefined },
  console: Console,
  password: string,
  change: () => Promise<User>,
): Promise<void> {
  const shape = {
    idField: "user_id",
    secretField: "password",
    separator: ":",
    renew: (user: UserRecord & { password: string }) =>
      `user set-password -n ${args.namespace} ${user.user_id} --random-password`,
  } as const;
  const place = { flag: "--save-password-to", path: args["save-password-to"] } as const;
  await deliverSecret(console, place, shape, async () => ({ ...toUserRecord(await change()), password }));
}
