import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { noSuchUser, oneUser, requireUserId } from "./guards.ts";
import { users } from "./table.ts";

const selectId = statement<{ id: string }>(sql`select id from ${users} where ${oneUser}`);

/**
 * Whose record a call is about. Customers act for themselves; staff for themselves unless they name somebody by
 * `customer_id`; app keys name somebody by `customer_id`, or by `user_id` beside their credentials.
 * @throws validationFailed for an app key that names nobody, or two, notFound for a user who is not there, or is not the customer who
 * calls.
 */
export async function requireSubject(
  ctx: Ctx,
  customerId: string | undefined,
  subject: string | undefined,
): Promise<string> {
  const { actor } = ctx;
  const own = actor.kind === "user" ? actor.userId : undefined;
  if (customerId !== undefined && subject !== undefined && customerId !== subject) {
    throw invalidField("customer_id", "names somebody else than user_id does");
  }
  const named = customerId ?? subject ?? own;
  if (named === undefined) throw invalidField("user_id", "is required: it says whose record this is about");
  if (named === own) return named;
  // Whether somebody else is there is nothing that a customer learns.
  if (actor.kind === "user" && actor.role === "customer") throw noSuchUser();
  requireUserId(named);
  const user = await get(ctx.db, selectId, { tenantId: ctx.tenant.id, id: named });
  if (!user) throw noSuchUser();
  return user.id;
}
