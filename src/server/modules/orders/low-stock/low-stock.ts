import { sql } from "drizzle-orm";
import { bind, param, rowsOf, statement } from "../../../db/statement.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { products, productVariants } from "../../catalogue/products/table.ts";
import { mailStore } from "../../mail/store-mail.ts";
import type { OrderCtx } from "../statements.ts";
import { lowStock } from "./table.ts";

const listed = sql`(select value from json_each(${param("ids")}))`;
const isLow = (from: string) => sql.raw(`${from}.stock - ${from}.reserved <= `);
const items = sql`
  select id, title, stock - reserved as available from ${products}
    where tenant_id = ${param("tenantId")} and id in ${listed} and not has_variants and ${isLow("products")} ${param("limit")}
  union all select v.id, p.title || coalesce(' (' || v.title || ')', ''), v.stock - v.reserved
    from ${productVariants} v join ${products} p on p.id = v.product_id
    where v.tenant_id = ${param("tenantId")} and v.id in ${listed} and ${isLow("v")} ${param("limit")}`;
const markLow = statement(sql`
  insert into ${lowStock} (item_id, tenant_id, cause_id, created_at)
  select id, ${param("tenantId")}, ${param("causeId")}, ${param("now")} from (${items}) where true
  on conflict do nothing`);
const selectMarked = statement(sql`
  select title, available from (${items}) i join ${lowStock} l on l.item_id = i.id
  where l.cause_id = ${param("causeId")} order by available, title`);

/** Mails the store about items of a new order that have become low in stock; each once until it is restocked. */
export async function mailLowStock(
  tx: OrderCtx,
  ordered: readonly { productId: string; variantId: string | null }[],
): Promise<void> {
  const { id: tenantId, lowStockAt: limit } = tx.tenant;
  if (limit === null || ordered.length === 0) return;
  const ids = JSON.stringify(ordered.map(({ productId, variantId }) => variantId ?? productId));
  const values = { tenantId, limit, ids, causeId: newId("low"), now: toTimestamp(tx.now()) };
  const [, found] = await tx.db.batch([bind(markLow, values), bind(selectMarked, values)]);
  const low = rowsOf(selectMarked, found);
  if (low.length === 0) return;
  const texts = low.map(({ title, available }) => `${title}: ${available}`);
  await mailStore(tx, { kind: "low_stock", cause: values.causeId, values: { items: texts.join("\n") } });
}
