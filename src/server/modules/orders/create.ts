import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, rowsOf, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { invalidField, notFound } from "../../errors.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { findItems, moveStock, type OrderedItem, type WantedItem } from "../catalogue/products/stock.ts";
import { languageChain } from "../catalogue/products/translation.ts";
import { spendPoints } from "../rewards/ledger.ts";
import { selectId } from "../users/guards.ts";
import { orderAmounts } from "./amounts.ts";
import { buyerOf, countTry, enforceReservationCap, requireFewPending } from "./buyers.ts";
import { type CheckedOrder, checkOrder, ownOnly, subjectOf } from "./input.ts";
import { expiryMs, type OrderInput } from "./model.ts";
import { insertEvent, selectOrder } from "./statements.ts";
import { orderLines, orderNumbers, orders } from "./table.ts";

const nextNumber = statement(sql`
  insert into ${orderNumbers} (tenant_id, last) values (${param("tenantId")}, 1)
  on conflict (tenant_id) do update set last = last + 1`);
const insertOrder = statement(sql`
  insert into ${orders} (id, tenant_id, number, user_id, buyer, status, payment_status, fulfillment_status, currency,
    currency_digits, subtotal_minor, discount_minor, shipping_minor, tax_minor, total_minor, points_used,
    shipping_address, note, lang, created_at, updated_at, expires_at)
  values (${param("id")}, ${param("tenantId")},
    (select last from ${orderNumbers} where tenant_id = ${param("tenantId")}), ${param("userId")}, ${param("buyer")},
    'pending', 'unpaid', 'unfulfilled', ${param("currency")}, ${param("digits")}, ${param("subtotal")}, ${param("discount")},
    ${param("shipping")}, ${param("tax")}, ${param("total")}, ${param("usePoints")}, ${param("shippingAddress")},
    ${param("note")}, ${param("lang")}, ${param("now")}, ${param("now")}, ${param("expiresAt")})`);

/**
 * Checks and counts an order before its transaction. `subject` is the customer that a key names by `user_id`.
 * @throws validationFailed, forbidden for fields that only the store may set, tooManyRequests.
 */
export async function prepareOrder(
  ctx: Ctx,
  input: OrderInput & { lang?: string | undefined; subject?: string | undefined },
  isDryRun = false,
) {
  const checked = checkOrder(ctx, input);
  const userId = subjectOf(ctx, input.customer_id, input.subject);
  if (userId === null && checked.usePoints > 0) throw invalidField("use_points", "must be 0 for a guest");
  const buyer = buyerOf(ctx, userId, checked.guestIp);
  const userField = input.customer_id === undefined ? "user_id" : "customer_id";
  if (buyer !== null) {
    await requireUser(ctx, userField, userId);
    await countTry(ctx, buyer, isDryRun);
  }
  return { checked, userId, buyer, userField };
}

/**
 * Creates an order in one transaction: reserves stock, spends points, assigns its number. A dry run hides the number.
 * @throws validationFailed, outOfStock, notEnoughPoints, tooManyRequests; notFound for a customer who was just deleted.
 */
export async function createOrder(
  ctx: Ctx,
  { checked, userId, buyer, userField }: Awaited<ReturnType<typeof prepareOrder>>,
  isDryRun = false,
): Promise<Rendered> {
  const id = newId("ord");
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    const [found] = await Promise.all([
      findLines(tx, checked.lines),
      requireUser(tx, userField, userId),
      buyer === null ? undefined : requireFewPending(tx, buyer),
    ]);
    const order = await insert(tx, { ...checked, id, userId, buyer }, found);
    if (buyer !== null) await enforceReservationCap(tx, buyer, id);
    // A dry run assigns no number.
    return isDryRun ? { ...order, json: order.json.replace(/"number":\d+/, '"number":null') } : order;
  });
}

async function requireUser(tx: Ctx, field: string, userId: string | null): Promise<void> {
  if (userId === null) return;
  const isKnown = isId("usr", userId) && (await get(tx.db, selectId, { tenantId: tx.tenant.id, id: userId }));
  if (isKnown) return;
  throw ownOnly(tx) === null ? invalidField(field, "is not a user of this store") : notFound("user", userId);
}

async function insert(
  tx: Ctx,
  order: CheckedOrder & { id: string; userId: string | null; buyer: string | null },
  found: Awaited<ReturnType<typeof findLines>>,
): Promise<Rendered> {
  const { id, userId, shipping, tax, digits, usePoints, lang } = order;
  const { tenant } = tx;
  const now = tx.now();
  const points = { count: usePoints, value: tenant.pointValue };
  const { lines: amounts, ...sums } = orderAmounts(found.lines, { shipping, tax, points, digits });
  if (usePoints > 0 && userId !== null) {
    await spendPoints(tx, { userId, points: usePoints, source: `order:${id}:redeem`, orderId: id });
  }
  const lines = found.lines.map((item, index) => {
    const title = titleIn(lang, item, tenant.language);
    return { ...item, id: newId("line"), title, ...(amounts[index] as (typeof amounts)[number]) };
  });
  const placed = {
    ...order,
    ...sums,
    tenantId: tenant.id,
    currency: tenant.currency,
    type: "order.created",
    eventId: newId("evt"),
    own: null,
    now: toTimestamp(now),
    expiresAt: toTimestamp(now + expiryMs),
  };
  const counted = found.items.filter(({ isCounted }) => isCounted);
  const results = await tx.db.batch([
    bind(nextNumber, placed),
    bind(insertOrder, placed),
    insertLines(placed, lines),
    ...moveStock(tx, "reserve", counted, "order"),
    bind(insertEvent, placed),
    bind(selectOrder, placed),
  ]);
  const [written] = rowsOf(selectOrder, results.at(-1));
  if (!written) throw new Error("An order was written but cannot be read");
  return written;
}

async function findLines(tx: Ctx, wanted: CheckedOrder["lines"]) {
  const sums = new Map<string, WantedItem>();
  for (const [index, line] of wanted.entries()) {
    const sum = sums.get(keyOf(line));
    if (sum) sum.quantity += line.quantity;
    else sums.set(keyOf(line), { ...line, field: `items.${index}` });
  }
  const keys = [...sums.keys()].sort();
  const once = keys.map((key) => sums.get(key) as WantedItem);
  const items = await findItems(tx, once);
  const lines = wanted.map((line, index) => {
    const item = items[keys.indexOf(keyOf(line))] as OrderedItem;
    if (line.productId !== null && line.productId !== item.productId) {
      throw invalidField(`items.${index}.variant_id`, "is not a variant of this product");
    }
    return { ...item, quantity: line.quantity };
  });
  return { lines, items };
}

function keyOf({ productId, variantId }: CheckedOrder["lines"][number]): string {
  return variantId ?? (productId as string);
}

function titleIn(lang: string, item: OrderedItem, tenantLanguage: string): string {
  if (item.translations === "{}") return item.title;
  const translations = JSON.parse(item.translations) as Record<string, { title?: string | null }>;
  for (const tag of JSON.parse(languageChain(lang, tenantLanguage)) as string[]) {
    if (tag === item.lang) return item.title;
    const title = translations[tag]?.title;
    if (title != null) return title;
  }
  return item.title;
}

type NewLine = Record<"id" | "productId" | "title" | "options", string> &
  Record<"variantId" | "variantTitle" | "sku" | "image", string | null> &
  Record<"priceMinor" | "quantity" | "subtotal" | "discount" | "tax" | "total", number> & { isCounted: boolean };

const insertLine = statement(sql`
  insert into ${orderLines} (tenant_id, order_id, position, id, product_id, variant_id, title, variant_title, sku, options,
    image, price_minor, quantity, subtotal_minor, discount_minor, tax_minor, total_minor, is_counted) values `);
const marks = `(${Array(18).fill("?")})`;

/** Returns the statement that inserts this many lines. One statement for any number would need slow JSON paths. */
function insertLines({ tenantId, id }: Record<"tenantId" | "id", string>, lines: readonly NewLine[]): InStatement {
  const args = lines.flatMap((line, position) => {
    const { productId, variantId, title, variantTitle, sku, options, image, isCounted } = line;
    const texts = [line.id, productId, variantId, title, variantTitle, sku, options, image];
    const { priceMinor, quantity, subtotal, discount, tax, total } = line;
    return [tenantId, id, position, ...texts, priceMinor, quantity, subtotal, discount, tax, total, isCounted];
  });
  return { sql: insertLine.compiled.sql + lines.map(() => marks).join(), args };
}
