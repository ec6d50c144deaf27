import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { invalidField } from "../../errors.ts";
import { isId, newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { Rendered } from "../products/rendering.ts";
import { type ReservedItem, reserve, stockChanged } from "../products/stock.ts";
import { languageChain } from "../products/translation.ts";
import { beginBatch, endBatch } from "../products/variants/summaries.ts";
import { spendPoints } from "../rewards/ledger.ts";
import { users } from "../users/table.ts";
import { orderAmounts } from "./amounts.ts";
import { finishChange } from "./finish-change.ts";
import { type CheckedOrder, checkOrder } from "./input.ts";
import { buyerOf, countDryRun, countOrder, requireShare } from "./limits.ts";
import type { OrderInput } from "./model.ts";
import { ownOnly, subjectOf } from "./ownership.ts";
import { orderLines, orderNumbers, orders } from "./table.ts";

/** Unpaid orders expire after this time. */
export const expiryMs = 60 * 60_000;

const nextNumber = statement(sql`
  insert into ${orderNumbers} (tenant_id, last) values (${param("tenantId")}, 1)
  on conflict (tenant_id) do update set last = last + 1`);
const thisUser = sql`select id from ${users} where tenant_id = ${param("tenantId")} and id = ${param("userId")}`;
const insertOrder = statement(sql`
  insert into ${orders} (id, tenant_id, number, user_id, buyer, status, payment_status, fulfillment_status, currency,
    currency_digits, subtotal_minor, discount_minor, shipping_minor, tax_minor, total_minor, points_used,
    shipping_address, note, lang, created_at, updated_at, expires_at)
  values (${param("id")}, ${param("tenantId")},
    (select last from ${orderNumbers} where tenant_id = ${param("tenantId")}), (${thisUser}), ${param("buyer")},
    'pending', 'unpaid', 'unfulfilled', ${param("currency")}, ${param("digits")}, ${param("subtotal")}, ${param("discount")},
    ${param("shipping")}, ${param("tax")}, ${param("total")}, ${param("usePoints")}, ${param("shippingAddress")},
    ${param("note")}, ${param("lang")}, ${param("now")}, ${param("now")}, ${param("expiresAt")})`);
// One statement inserts all lines. Each is a JSON array in the order of the columns.
const lineColumns = `id, product_id, variant_id, title, variant_title, sku, options, image, price_minor, quantity,
  subtotal_minor, discount_minor, tax_minor, total_minor, is_counted`;
const insertLines = statement(sql`
  insert into ${orderLines} (tenant_id, order_id, position, ${sql.raw(lineColumns)})
  select ${param("tenantId")}, ${param("id")}, key,
    ${sql.raw(
      lineColumns
        .split(",")
        .map((_, index) => `value ->> ${index}`)
        .join(", "),
    )}
  from json_each(${param("lines")})`);
const selectUser = statement<{ id: string }>(thisUser);

/**
 * Creates an order in one transaction: reserves stock, spends points, assigns the number. A dry run rolls it back.
 * @param input `subject` is the customer that an app key names by `user_id`.
 * @throws validationFailed, forbidden for fields that only the store may set, outOfStock, notEnoughPoints, tooManyRequests;
 * notFound for a customer who was deleted meanwhile.
 */
export async function createOrder(
  ctx: Ctx,
  input: OrderInput & { lang?: string | undefined; subject?: string | undefined },
  isDryRun = false,
): Promise<Rendered> {
  const checked = checkOrder(ctx, input);
  const userId = subjectOf(ctx, input.customer_id, input.subject);
  if (userId === null && checked.usePoints > 0) throw invalidField("use_points", "must be 0 for a guest");
  const id = newId("ord");
  const buyer = buyerOf(ctx, userId, checked.guestIp);
  const userField = input.customer_id === undefined ? "user_id" : "customer_id";
  if (isDryRun && buyer !== null) {
    await requireUser(ctx, userField, userId);
    await countDryRun(ctx, buyer);
  }
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    await requireUser(tx, userField, userId);
    if (buyer !== null) await countOrder(tx, buyer);
    const order = await insert(tx, checked, { id, userId, buyer });
    if (buyer !== null) await requireShare(tx, buyer, id);
    return order;
  });
}

async function requireUser(tx: Ctx, field: string, userId: string | null): Promise<void> {
  if (userId === null || ownOnly(tx) !== null) return;
  const isKnown = isId("usr", userId) && (await get(tx.db, selectUser, { tenantId: tx.tenant.id, userId }));
  if (!isKnown) throw invalidField(field, "is not a user of this store");
}

async function insert(
  tx: Ctx,
  order: CheckedOrder,
  { id, userId, buyer }: { id: string; userId: string | null; buyer: string | null },
): Promise<Rendered> {
  const { shipping, tax, digits, usePoints, shippingAddress, note, lang } = order;
  const { tenant } = tx;
  const now = tx.now();
  const reserved = await reserveLines(tx, order.lines);
  const priced = order.lines.map(({ quantity }, index) => ({
    priceMinor: reserved.lines[index]?.priceMinor as number,
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
  const rows = reserved.lines.map((item, index) => {
    const { priceMinor, quantity } = priced[index] as (typeof priced)[number];
    const line = lines[index] as (typeof lines)[number];
    const title = titleIn(lang, item, tenant.language);
    const texts = [item.productId, item.variantId, title, item.variantTitle, item.sku, item.options, item.image];
    const amounts = [priceMinor, quantity, line.subtotal, line.discount, line.tax, line.total];
    return [newId("line"), ...texts, ...amounts, item.isCounted ? 1 : 0];
  });
  const values = {
    id,
    tenantId: tenant.id,
    userId,
    buyer,
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
  return finishChange(tx, id, {
    event: "order.created",
    owner: userId,
    isFollowed: buyer !== null,
    first: [
      bind(nextNumber, values),
      bind(insertOrder, values),
      bind(insertLines, { ...values, lines: JSON.stringify(rows) }),
      ...reserved.items.filter(({ isCounted }) => isCounted).map((item) => stockChanged(tx, item, "order")),
    ],
  });
}

/** Reserves stock for all lines and returns their items; lines with the same item are added up first. */
async function reserveLines(tx: Ctx, wanted: CheckedOrder["lines"]) {
  const sums = new Map<string, CheckedOrder["lines"][number] & { index: number }>();
  for (const [index, line] of wanted.entries()) {
    const key = keyOf(line);
    const sum = sums.get(key);
    if (sum) sum.quantity += line.quantity;
    else sums.set(key, { ...line, index });
  }
  const reserved = new Map<string, ReservedItem>();
  const isBatch = [...sums.values()].filter(({ variantId }) => variantId !== null).length > 1;
  if (isBatch) await tx.db.execute(beginBatch);
  for (const [key, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    reserved.set(key, await reserve(tx, sum, `items.${sum.index}`));
  }
  if (isBatch) await tx.db.execute(endBatch);
  const lines = wanted.map((line, index) => {
    const item = reserved.get(keyOf(line)) as ReservedItem;
    if (line.productId !== null && line.productId !== item.productId) {
      throw invalidField(`items.${index}.variant_id`, "is not a variant of this product");
    }
    return item;
  });
  return { lines, items: [...reserved.values()] };
}

function keyOf({ productId, variantId }: CheckedOrder["lines"][number]): string {
  return variantId ?? (productId as string);
}

/** The title of an item in the language of an order, or in the next best language. */
function titleIn(lang: string, item: ReservedItem, tenantLanguage: string): string {
  if (item.translations === "{}") return item.title;
  const translations = JSON.parse(item.translations) as Record<string, { title?: string | null }>;
  for (const tag of JSON.parse(languageChain(lang, tenantLanguage)) as string[]) {
    if (tag === item.lang) return item.title;
    const title = translations[tag]?.title;
    if (title != null) return title;
  }
  return item.title;
}
