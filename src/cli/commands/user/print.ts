import type { Ctx } from "../../../server/context.ts";
import type { listUsers } from "../../../server/modules/users/list.ts";
import type { getUser } from "../../../server/modules/users/service.ts";
import { withTenant } from "../../context/context.ts";
import type { SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { printRecord } from "../../terminal/output.ts";

/** A user as the services return it. */
export type User = Awaited<ReturnType<typeof getUser>>;
type UserArgs = SharedValues & { namespace: string; user: string };

/** A user as the terminal prints it: the API's record, with the id named as everywhere in the terminal. */
export type UserRecord = { user_id: string } & Omit<User, "id">;

/** The terminal's record of the API's. */
export function toUserRecord({ id, ...rest }: User): UserRecord {
  return { user_id: id, ...rest };
}

/**
 * Runs work on the user that is named by id or email.
 * @throws notFound when the tenant has no such user.
 */
export function withUser<T>(args: UserArgs, console: Console, work: (ctx: Ctx, id: string) => Promise<T>): Promise<T> {
  return withTenant(args, console, async (ctx) => {
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    return work(ctx, await resolveUserId(ctx, args.user));
  });
}

/** Prints one user. */
export function printUser(console: Console, user: User): Promise<void> {
  return printRecord(console, toUserRecord(user), "user_id");
}

/** Changes a user's password to one made here, and delivers it once: into a file, or on standard output. */
export async function deliverPassword(
  args: { namespace: string; "password-file": string | undefined },
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
  const place = { flag: "--password-file", path: args["password-file"] } as const;
  await deliverSecret(console, place, shape, async () => ({ ...toUserRecord(await change()), password }));
}

/** So many a page; the service's most. */
const pageSize = 100;

/**
 * The newest users that fit, at most `limit`, gathered from as many pages as that takes.
 * @returns also whether there are more.
 */
export async function listUserRecords(
  ctx: Ctx,
  filter: Omit<Parameters<typeof listUsers>[1], "limit" | "cursor">,
  limit: number,
): Promise<{ users: UserRecord[]; hasMore: boolean }> {
  const { listUsers } = await import("../../../server/modules/users/list.ts");
  const users: UserRecord[] = [];
  let cursor: string | undefined;
  do {
    const query = {
      ...filter,
      limit: Math.min(pageSize, limit - users.length),
      ...(cursor !== undefined && { cursor }),
    };
    const page = await listUsers(ctx, query);
    users.push(...(JSON.parse(page.json) as User[]).map(toUserRecord));
    cursor = page.page.next_cursor ?? undefined;
  } while (cursor !== undefined && users.length < limit);
  return { users, hasMore: cursor !== undefined };
}
