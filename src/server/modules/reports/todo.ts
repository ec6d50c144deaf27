import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { moneyDivisor } from "../../values/money.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { products, productVariants } from "../catalogue/products/table.ts";
import { mailOutbox } from "../mail/table.ts";
import { orderAttention } from "../orders/attention/table.ts";
import { dueMinor } from "../orders/statements.ts";
import { orderLines, orders } from "../orders/table.ts";
import { withdrawals } from "../orders/withdrawals/table.ts";
import type { Todo, TodoKind } from "./model.ts";

const columns = {
  id: sql<string>`id`,
  subject: sql<string | number>`subject`,
  detail: sql<string | null>`detail`,
  count: sql<number | null>`count`,
  since: sql<string>`since`,
};

const ofStore = sql`tenant_id = ${param("tenantId")}`;
const due = sql.raw(`printf('%.*f %s', currency_digits, ${dueMinor} / ${moneyDivisor("currency_digits")}, currency)`);
const compile = (rows: SQL) => statement((q) => q.select(columns).from(sql`(${rows} limit ${param("limit")})`));
const isLow = sql`deleted_at is null and stock - reserved <= ${param("lowStockAt")}`;
const unsent = sql`(select sum(quantity - fulfilled_quantity - cancelled_quantity) from ${orderLines}
  where order_id = orders.id)`;

const unmatchedMs = 14 * 86_400_000;

const selects: Record<TodoKind, ReturnType<typeof compile>> = {
  unpaid_transfer: compile(sql`
    select id, number as subject, ${due} as detail, null as count, created_at as since
    from ${orders} where ${ofStore} and status = 'pending' and payment_method = 'manual' order by created_at`),
  to_ship: compile(sql`
    select id, number as subject, null as detail, ${unsent} as count, paid_at as since
    from ${orders} where ${ofStore} and status = 'paid' order by created_at`),
  attention: compile(sql`
    select o.id, o.number as subject, a.kind as detail, null as count, a.created_at as since
    from ${orderAttention} a join ${orders} o on o.id = a.order_id
    where a.tenant_id = ${param("tenantId")} and a.ended_at is null order by a.created_at`),
  low_stock: compile(sql`
    select id, coalesce(sku, slug) as subject, title as detail, stock - reserved as count, updated_at as since
    from ${products} where ${ofStore} and not has_variants and ${isLow}
    union all select product, coalesce(sku, slug), concat(name, ' (' || title || ')'), stock - reserved, updated_at
    from (select id as product, slug, title as name from ${products}) join ${productVariants} on product_id = product
    where ${ofStore} and ${isLow}`),
  failed_mail: compile(sql`
    select id, id as subject, concat_ws(': ', kind, last_error) as detail, null as count, created_at as since
    from ${mailOutbox} where ${ofStore} and status = 'failed' order by created_at`),
  unknown_withdrawal: compile(sql`
    select id, number as subject, concat(name, ', ', email) as detail, null as count, created_at as since
    from ${withdrawals} where ${ofStore} and created_at > ${param("after")} and order_id is null and email <> ''
    order by created_at`),
};

/**
 * Lists what a store has to do: at most `limit` of each kind, the oldest first. Withdrawals that match no order are
 * listed for two weeks, because they cannot be marked as done.
 */
export async function listTodo(ctx: Ctx, limit: number): Promise<Todo[]> {
  const { id: tenantId, lowStockAt } = ctx.tenant;
  const after = toTimestamp(ctx.now() - unmatchedMs);
  const found = Object.entries(selects).map(async ([kind, select]) => {
    const rows = await all(ctx.db, select, { tenantId, lowStockAt, limit, after });
    return rows.map((row) => ({ kind: kind as TodoKind, ...row, subject: String(row.subject) }));
  });
  return (await Promise.all(found)).flat();
}
