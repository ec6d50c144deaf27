import { sql } from "drizzle-orm";
import { all, param, statement } from "../../../db/statement.ts";
import type { OrderedItem } from "../../catalogue/products/stock.ts";
import { mailStore } from "../../mail/store-mail.ts";
import { titleOf } from "../read.ts";
import type { OrderCtx } from "../statements.ts";
import { lowStock } from "./table.ts";

const markLow = statement((q) =>
  q
    .insert(lowStock)
    .select(sql`select value, ${param("tenantId")} from json_each(${param("ids")}) where true`)
    .onConflictDoNothing()
    .returning({ itemId: lowStock.itemId }),
);

/** Mails the store about items with low stock after the order `causeId`. Reports each item once until restocked. */
export async function mailLowStock(tx: OrderCtx, causeId: string, ordered: readonly OrderedItem[]): Promise<void> {
  const { id: tenantId, lowStockAt: limit } = tx.tenant;
  if (limit === null) return;
  const few = ordered.flatMap(({ productId, variantId, available, quantity, ...item }) => {
    if (available === null || available - quantity > limit) return [];
    return { id: variantId ?? productId, text: `${titleOf(item)}: ${available - quantity}` };
  });
  if (few.length === 0) return;
  const ids = JSON.stringify(few.map(({ id }) => id));
  const marked = await all(tx.db, markLow, { tenantId, ids });
  const texts = few.filter(({ id }) => marked.some(({ itemId }) => itemId === id)).map(({ text }) => text);
  if (texts.length === 0) return;
  await mailStore(tx, { kind: "low_stock", cause: causeId, values: { items: texts.join("\n") } });
}
