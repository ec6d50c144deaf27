import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { noSuchUser, oneUser, requireUserId } from "./guards.ts";
import { users } from "./table.ts";

const selectId = statement<{ id: string }>(sql`select id from ${users} where ${oneUser}`);

/**
 * The user that a call is about. Customers act for themselves; staff for themselves or `customer_id`; app keys for
 * `customer_id`, or `user_id` beside their credentials.
 * @throws validationFailed for an app key that names no user or two; notFound for an unknown user, and for a customer
 * who names another.
 */
export async function requireSubject(
  ctx: Ctx,
  customerId: string | undefined,
  subject: string | undefined,
): Promise<string> {
  const { actor } = ctx;
  const own = actor.kind === "user" ? actor.userId : undefined;
  if (customerId !== undefined && subject !== undefined && customerId !== subject) {
    throw invalidField("customer_id", "names another user than user_id");
  }
  const named = customerId ?? subject ?? own;
  if (named === undefined) throw invalidField("user_id", "is required: it names the user that the call is about");
  if (named === own) return named;
  // Customers must not learn whether another user exists.
  if (actor.kind === "user" && actor.role === "customer") throw noSuchUser();
  requireUserId(named);
  const user = await get(ctx.db, selectId, { tenantId: ctx.tenant.id, id: named });
  if (!user) throw noSuchUser();
  return user.id;
}
