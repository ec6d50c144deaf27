import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, bind, get, ofStore, param, params, statement } from "../../db/statement.ts";
import { type AppError, discountRefused } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { categories } from "../catalogue/categories/table.ts";
import { products } from "../catalogue/products/table.ts";
import { addressSubject, checkLimit, consumeLimit, hasHits } from "../rate-limits/service.ts";
import { users } from "../users/table.ts";
import { splitReduction } from "./calculate.ts";
import { codeKey } from "./service.ts";
import { discounts, discountUses } from "./table.ts";

export interface CodeUser {
  userId: string | null;
  emailKey: string | null;
}

const hasUses = sql`(max_per_customer is null or max_per_customer > (
  select count(*) from ${discountUses} where discount_id = ${discounts.id}
    and (user_id = ${param("userId")} or email_key in (${param("emailKey")}, (
      select email_key from ${users} where ${ofStore(users)} and id = ${param("userId")})))))`;
const isUsable = sql`(begins_at is null or begins_at <= ${param("now")}) and (ends_at is null or ends_at > ${param("now")})
  and (max_uses is null or uses < max_uses) and ${hasUses}`;
const isCode = sql`${ofStore(discounts)} and code_key = ${param("codeKey")}`;
const refusals = { name: "refused codes", max: 10, windowMs: 10 * 60_000 };

// Unknown, future, ended and used-up codes are refused with the same error, so that nobody can find codes by guessing.
const selectUsable = statement((q) =>
  q
    .select({
      ...pick(discounts, "id", "code", "percent", "amountMinor", "freeShipping", "minimumMinor"),
      ...pick(discounts, "productIds", "categoryIds"),
      hasRefusals: hasHits(refusals),
    })
    .from(discounts)
    .where(sql`${isCode} and ${isUsable}`),
);
export type UsableDiscount = NonNullable<(typeof selectUsable)["row"]>;

const selectEligible = statement((q) =>
  q
    .select({ id: products.id })
    .from(products)
    .where(sql`${ofStore(products)} and ${products.id} in (select value from json_each(${param("ids")}))
      and (${products.id} in (select value from json_each(${param("productIds")})) or exists (
        with recursive above(id) as (
          select value from json_each(${products.categoryIds})
          union select c.parent_id from ${categories} c join above on c.id = above.id where c.parent_id is not null)
        select 1 from above where id in (select value from json_each(${param("categoryIds")}))))`),
);
// Needs no guard: `findCode` has checked the code in the same transaction, and no other transaction writes meanwhile.
// Triggers count the uses of each code.
const insertUse = statement((q) =>
  q.insert(discountUses).values(params("orderId", "tenantId", "discountId", "userId", "emailKey")),
);
// An order that is paid late uses its code again. The code may have ended, but its limits still apply. If they are
// exceeded, `discount_id` is null, and SQLite refuses the row.
const insertAgain = statement(sql`
  insert into ${discountUses} (order_id, tenant_id, discount_id, user_id, email_key)
  select ${param("orderId")}, tenant_id, case when ${hasUses} then id end, ${param("userId")}, ${param("emailKey")}
  from ${discounts} where ${isCode}`);
const deleteUse = statement(sql`
  delete from ${discountUses} where order_id = ${param("id")} and tenant_id = ${param("tenantId")}`);

/** The subjects for whom errors of refused codes count. */
const subjects = new WeakMap<AppError, string>();

/**
 * Finds a code that the order may use now. `guestIp` is the guest's IP address if a backend sends it.
 * @throws discountRefused. Pass this error to `countRefusedCode`.
 */
export async function findCode(tx: Ctx, code: string, user: CodeUser, guestIp: string | null): Promise<UsableDiscount> {
  const values = { tenantId: tx.tenant.id, codeKey: codeKey(code), now: toTimestamp(tx.now()), ...user };
  const found = await get(tx.db, selectUsable, values);
  if (found && !found.hasRefusals) return found;
  // Commands have no address, so their refused codes are not counted.
  const subject = tx.client && addressSubject(tx.vault, guestIp ?? tx.client.ip, tx.tenant.id);
  if (found && (subject === undefined || (await checkLimit(tx, refusals, subject)) === 0)) return found;
  const error = discountRefused();
  if (subject !== undefined) subjects.set(error, subject);
  throw error;
}

/**
 * Counts a code that `findCode` refused. Call it outside the order's transaction, whose rollback would undo the count.
 * @throws the given error; after ten refused codes in ten minutes, tooManyRequests.
 */
export async function countRefusedCode(ctx: Ctx, error: unknown): Promise<never> {
  const subject = subjects.get(error as AppError);
  if (subject !== undefined) await consumeLimit(ctx, refusals, subject, "Too many discount codes did not apply.");
  throw error;
}

/**
 * Splits the reduction of a code over the lines of an order, in minor units.
 * @throws discountRefused if the code applies to no line, or if the goods cost less than the minimum of the code.
 */
export async function applyDiscount(
  tx: Ctx,
  discount: UsableDiscount,
  lines: readonly { productId: string; subtotal: number }[],
  show: (minor: number) => string,
): Promise<number[]> {
  const { percent, amountMinor, minimumMinor, productIds, categoryIds } = discount;
  const goods = lines.reduce((sum, { subtotal }) => sum + subtotal, 0);
  if (goods < (minimumMinor ?? 0)) {
    const minimum = show(minimumMinor ?? 0);
    const details = [{ field: "discount_code", message: minimum }];
    throw discountRefused(`The discount code needs goods for ${minimum} or more.`, { details });
  }
  const subtotals = lines.map(({ subtotal }) => subtotal);
  const isForAll = productIds === "[]" && categoryIds === "[]";
  const ids = JSON.stringify(lines.map(({ productId }) => productId));
  const found = isForAll
    ? []
    : await all(tx.db, selectEligible, { tenantId: tx.tenant.id, ids, productIds, categoryIds });
  const isEligible = lines.map(({ productId }) => isForAll || found.some(({ id }) => id === productId));
  if (!isEligible.includes(true)) throw discountRefused("The discount code does not apply to these goods.");
  return splitReduction(subtotals, isEligible, percent === null ? { amount: amountMinor ?? 0 } : { percent });
}

/** Returns a statement that records the use of a code that `findCode` found in the same transaction. */
export function useDiscount(tx: Ctx, { id: discountId }: UsableDiscount, orderId: string, user: CodeUser): InStatement {
  return bind(insertUse, { tenantId: tx.tenant.id, discountId, orderId, ...user });
}

/** Returns a statement that removes an order's use of a code, if the order uses one. */
export function releaseDiscount(tx: Pick<Ctx, "tenant">, orderId: string): InStatement {
  return bind(deleteUse, { tenantId: tx.tenant.id, id: orderId });
}

/** Returns a statement that uses an expired order's code again. It fails if the code's limits are exceeded. */
export function retakeDiscount(tx: Ctx, code: string, orderId: string, user: CodeUser): InStatement {
  return bind(insertAgain, { tenantId: tx.tenant.id, codeKey: codeKey(code), orderId, ...user });
}
