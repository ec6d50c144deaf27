import type { ResultSet } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { invalidField } from "../../errors.ts";
import { isId, newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { stockChanged } from "../products/stock.ts";
import { spendPoints } from "../rewards/ledger.ts";
import { users } from "../users/table.ts";
import { orderAmounts } from "./amounts.ts";
import { type CheckedOrder, checkOrder } from "./input.ts";
import type { OrderInput } from "./model.ts";
import { ownOnly, subjectOf } from "./ownership.ts";
import type { RenderedOrder } from "./rendering.ts";
import { reserveLines, titleIn } from "./reservation.ts";
import { orderEvent, readOrder } from "./statements.ts";
import { orderLines, orderNumbers, orders } from "./table.ts";

/** How long an order waits for its payment. */
const expiryMs = 60 * 60_000;

const nextNumber = statement(sql`
  insert into ${orderNumbers} (tenant_id, last) values (${param("tenantId")}, 1)
  on conflict (tenant_id) do update set last = last + 1`);
const insertOrder = statement(sql`
  insert into ${orders} (id, tenant_id, number, user_id, status, payment_status, fulfillment_status, currency,
    currency_digits, subtotal_minor, discount_minor, shipping_minor, tax_minor, total_minor, points_used,
    shipping_address, note, lang, created_at, updated_at, expires_at)
  values (${param("id")}, ${param("tenantId")},
    (select last from ${orderNumbers} where tenant_id = ${param("tenantId")}), ${param("userId")}, 'pending', 'unpaid',
    'unfulfilled', ${param("currency")}, ${param("digits")}, ${param("subtotal")}, ${param("discount")},
    ${param("shipping")}, ${param("tax")}, ${param("total")}, ${param("usePoints")}, ${param("shippingAddress")},
    ${param("note")}, ${param("lang")}, ${param("now")}, ${param("now")}, ${param("expiresAt")})`);
// All lines are one statement; each is a JSON array in the order of the columns.
const lineColumns = [
  "id",
  "product_id",
  "variant_id",
  "title",
  "variant_title",
  "sku",
  "options",
  "image",
  "price_minor",
  "quantity",
  "subtotal_minor",
  "discount_minor",
  "tax_minor",
  "total_minor",
  "is_counted",
] as const;
const insertLines = statement(sql`
  insert into ${orderLines} (tenant_id, order_id, position, ${sql.raw(lineColumns.join(", "))})
  select ${param("tenantId")}, ${param("id")}, key,
    ${sql.raw(lineColumns.map((_, index) => `json_extract(value, '$[${index}]')`).join(", "))}
  from json_each(${param("lines")})`);
const selectUser = statement<{ id: string }>(sql`
  select id from ${users} where tenant_id = ${param("tenantId")} and id = ${param("userId")}`);

/** What makes an order: the fields of the API, with what it takes from elsewhere in the call. */
export type NewOrder = OrderInput & {
  lang?: string | undefined;
  /** Whose it is, where an app key says it by `user_id`. */
  subject?: string | undefined;
};

/**
 * Orders what is in the catalogue at its prices: holds the pieces, spends the points, gives the number, all in one
 * transaction (design, section 4). Customers order for themselves, others for whom they name or for a guest.
 * @param isDryRun all of it happens, is answered, and is undone.
 * @throws validationFailed naming the field, forbidden for what only the store may set, outOfStock out of stock, notEnoughPoints too few points.
 */
export async function createOrder(ctx: Ctx, input: NewOrder, isDryRun = false): Promise<RenderedOrder> {
  const checked = checkOrder(ctx, input);
  const userId = subjectOf(ctx, input.customer_id, input.subject);
  if (userId === null && checked.usePoints > 0) throw invalidField("use_points", "a guest has none");
  const userField = input.customer_id === undefined ? "user_id" : "customer_id";
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    if (userId !== null && ownOnly(ctx) === null) await requireUser(tx, userField, userId);
    return insert(tx, checked, userId);
  });
}

async function requireUser(tx: Ctx, field: string, userId: string): Promise<void> {
  const isKnown = isId("usr", userId) && (await get(tx.db, selectUser, { tenantId: tx.tenant.id, userId }));
  if (!isKnown) throw invalidField(field, "names no user of this store");
}

async function insert(tx: Ctx, order: CheckedOrder, userId: string | null): Promise<RenderedOrder> {
  const { shipping, tax, digits, usePoints, shippingAddress, note, lang } = order;
  const { tenant } = tx;
  const id = newId("ord");
  const now = tx.now();
  const held = await reserveLines(tx, order.lines);
  const priced = order.lines.map(({ quantity }, index) => ({
    priceMinor: held.lines[index]?.priceMinor as number,
    quantity,
  }));
  const { lines, ...amounts } = orderAmounts(priced, {
    shipping,
    tax,
    points: { count: usePoints, value: tenant.pointValue },
    digits,
  });
  if (usePoints > 0 && userId !== null) {
    await spendPoints(tx, { userId, points: usePoints, source: `order:${id}:redeem`, orderId: id });
  }
  const rows = held.lines.map((item, index) => {
    const { priceMinor, quantity } = priced[index] as (typeof priced)[number];
    const line = lines[index] as (typeof lines)[number];
    const title = titleIn(lang, item, tenant.language);
    const what = [item.productId, item.variantId, title, item.variantTitle, item.sku, item.options, item.image];
    const sums = [priceMinor, quantity, line.subtotal, line.discount, line.tax, line.total];
    return [newId("line"), ...what, ...sums, item.isCounted ? 1 : 0];
  });
  const values = {
    id,
    tenantId: tenant.id,
    userId,
    currency: tenant.currency,
    digits,
    ...amounts,
    usePoints,
    shippingAddress,
    note,
    lang,
    now: toTimestamp(now),
    expiresAt: toTimestamp(now + expiryMs),
  };
  // One round trip to a libSQL server.
  const results = await tx.db.batch([
    bind(nextNumber, values),
    bind(insertOrder, values),
    bind(insertLines, { ...values, lines: JSON.stringify(rows) }),
    ...held.items.filter(({ isCounted }) => isCounted).map((item) => stockChanged(tx, item, "order")),
    orderEvent(tx, id, "order.created"),
    readOrder(tx, id),
  ]);
  return lastRow(results);
}

/** The order that stands at the end of a batch. */
export function lastRow(results: readonly ResultSet[]): RenderedOrder {
  const row = results.at(-1)?.rows[0] as unknown as RenderedOrder | undefined;
  if (!row) throw new Error("An order was written and cannot be read");
  return row;
}
