import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { isCheckViolation } from "../../db/db-errors.ts";
import { pick } from "../../db/selection.ts";
import { all, bind, get, ofStore, param, statement } from "../../db/statement.ts";
import { discountRefused } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { categories } from "../catalogue/categories/table.ts";
import { products } from "../catalogue/products/table.ts";
import { addressSubject, checkLimit, consumeLimit } from "../rate-limits/service.ts";
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
// Unknown, future, ended and used-up codes get the same reply, so that nobody can find codes by trying.
const selectUsable = statement((q) =>
  q
    .select({
      ...pick(discounts, "id", "code", "percent", "amountMinor", "freeShipping", "minimumMinor"),
      ...pick(discounts, "productIds", "categoryIds"),
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
// If the code no longer applies, the statement sets `uses` to -1 and fails, because a CHECK refuses that.
const countUse = (condition: SQL) =>
  statement(sql`update ${discounts} set uses = case when ${condition} then uses + 1 else -1 end where ${isCode}`);
const countNew = countUse(isUsable);
// An order that is paid after it expired uses its code again. The code may have ended, but its limits still apply.
const countAgain = countUse(hasUses);
const insertUse = statement(sql`
  insert into ${discountUses} (order_id, tenant_id, discount_id, user_id, email_key)
  select ${param("orderId")}, tenant_id, id, ${param("userId")}, ${param("emailKey")} from ${discounts} where ${isCode}`);
const uncountUse = statement(sql`
  update ${discounts} set uses = uses - 1 where id = (
    select discount_id from ${discountUses} where order_id = ${param("id")} and tenant_id = ${param("tenantId")})`);
const deleteUse = statement(sql`
  delete from ${discountUses} where order_id = ${param("id")} and tenant_id = ${param("tenantId")}`);

const refusals = { name: "refused codes", max: 10, windowMs: 10 * 60_000 };

/**
 * Finds a code. Call it before the transaction that uses the code: a rollback would undo the count of refused codes.
 * @throws discountRefused; tooManyRequests after ten refused codes in ten minutes.
 */
export async function checkCode(ctx: Ctx, code: string, user: CodeUser): Promise<UsableDiscount> {
  const subject = ctx.client === undefined ? undefined : addressSubject(ctx.vault, ctx.client.ip, ctx.tenant.id);
  const tooMany = "Too many discount codes did not apply.";
  if (subject !== undefined && (await checkLimit(ctx, refusals, subject)) > 0) {
    await consumeLimit(ctx, refusals, subject, tooMany);
  }
  const values = { tenantId: ctx.tenant.id, codeKey: codeKey(code), now: toTimestamp(ctx.now()), ...user };
  const found = await get(ctx.db, selectUsable, values);
  if (found) return found;
  if (subject !== undefined) await consumeLimit(ctx, refusals, subject, tooMany);
  throw discountRefused();
}

/**
 * Splits the reduction of a code over the lines of an order, in minor units.
 * @throws discountRefused if the code applies to no line, or if the goods are below its minimum, which the error names.
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
    throw discountRefused(`The discount code applies to goods of ${minimum} or more.`, { details });
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

/** Statements that record the use of a code by an order. The database refuses them if the code no longer applies. */
export function useDiscount(tx: Ctx, { code }: UsableDiscount, orderId: string, user: CodeUser): InStatement[] {
  const values = { tenantId: tx.tenant.id, codeKey: codeKey(code), orderId, now: toTimestamp(tx.now()), ...user };
  return [bind(countNew, values), bind(insertUse, values)];
}

/** Whether the database refused a use because the code no longer applies. */
export function isUseRefused(error: unknown): boolean {
  return isCheckViolation(error, "discounts_uses");
}

/** Statements that remove an order's use of a code. If the order has used none, they change nothing. */
export function releaseDiscount(tx: Pick<Ctx, "tenant">, orderId: string): InStatement[] {
  const values = { tenantId: tx.tenant.id, id: orderId };
  return [bind(uncountUse, values), bind(deleteUse, values)];
}

/** Statements that use an expired order's code again. The database refuses them if the code's limits are exceeded. */
export function retakeDiscount(tx: Ctx, code: string, orderId: string, user: CodeUser): InStatement[] {
  const values = { tenantId: tx.tenant.id, codeKey: codeKey(code), orderId, ...user };
  return [bind(countAgain, values), bind(insertUse, values)];
}
