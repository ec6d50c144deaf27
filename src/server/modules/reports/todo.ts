import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { formatMinor } from "../../values/money.ts";
import { products, productVariants } from "../catalogue/products/table.ts";
import { mailOutbox } from "../mail/table.ts";
import { orderAttention } from "../orders/attention/table.ts";
import { dueMinor } from "../orders/statements.ts";
import { orderLines, orders } from "../orders/table.ts";

const columns = {
  // The number of an order, the SKU or slug of an item, or the id of a mail.
  subject: sql<string | number>`subject`,
  detail: sql<string | number>`detail`,
  since: sql<string>`since`,
  // Null unless `detail` is an amount in minor units.
  currency: sql<string | null>`currency`,
  digits: sql<number>`digits`,
};

const ofStore = sql`tenant_id = ${param("tenantId")}`;
const noAmount = sql`null as currency, 0 as digits`;
const compile = (rows: SQL) => statement((q) => q.select(columns).from(sql`(${rows} limit ${param("limit")})`));
const isLow = sql`deleted_at is null and stock - reserved <= ${param("lowStockAt")}`;
const unsent = sql`(select sum(quantity - fulfilled_quantity - cancelled_quantity) from ${orderLines}
  where order_id = orders.id)`;

const selects = {
  unpaid_transfer: compile(sql`
    select number as subject, ${sql.raw(dueMinor)} as detail, created_at as since, currency, currency_digits as digits
    from ${orders} where ${ofStore} and status = 'pending' and payment_method = 'manual' order by created_at`),
  to_ship: compile(sql`
    select number as subject, ${unsent} || ' to ship' as detail, paid_at as since, ${noAmount}
    from ${orders} where ${ofStore} and status = 'paid' order by created_at`),
  attention: compile(sql`
    select o.number as subject, a.kind as detail, a.created_at as since, ${noAmount}
    from ${orderAttention} a join ${orders} o on o.id = a.order_id
    where a.tenant_id = ${param("tenantId")} and a.ended_at is null order by a.created_at`),
  low_stock: compile(sql`
    select coalesce(sku, slug) as subject, (stock - reserved) || ' left' as detail, updated_at as since, ${noAmount}
    from ${products} where ${ofStore} and not has_variants and ${isLow}
    union all select coalesce(sku, id), (stock - reserved) || ' left', updated_at, ${noAmount}
    from ${productVariants} where ${ofStore} and ${isLow}`),
  failed_mail: compile(sql`
    select id as subject, concat_ws(': ', kind, last_error) as detail, created_at as since, ${noAmount}
    from ${mailOutbox} where ${ofStore} and status = 'failed' order by created_at`),
};
export type TodoKind = keyof typeof selects;

/** Lists what a store has to do, of each kind at most `limit`, oldest first. Low stock is at or below `low_stock_at`. */
export async function listTodo(ctx: Ctx, limit: number) {
  const { id: tenantId, lowStockAt } = ctx.tenant;
  const found = Object.entries(selects).map(async ([kind, select]) => {
    const rows = await all(ctx.db, select, { tenantId, lowStockAt, limit });
    return rows.map(({ subject, detail, since, currency, digits }) => ({
      kind: kind as TodoKind,
      subject: String(subject),
      detail: currency === null ? String(detail) : `${formatMinor(Number(detail), digits)} ${currency} due`,
      since,
    }));
  });
  return (await Promise.all(found)).flat();
}
