import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, bindFirst, byId, equals, get, ofStore, param, rowsOf, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { forbidden, invalidField, notFound } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { forEachAudience, type Rendered } from "../catalogue/products/rendering.ts";
import { findItems, moveStock, type OrderedItem, type WantedItem } from "../catalogue/products/stock.ts";
import { languageChain } from "../catalogue/products/translation.ts";
import { findCode, type UsableDiscount, useDiscount } from "../discounts/use.ts";
import { staffAddresses } from "../mail/store-mail.ts";
import { spendPoints } from "../rewards/ledger.ts";
import { keptShippingRates } from "../shipping/service.ts";
import { keptTaxRates, showTaxRate } from "../taxes/service.ts";
import { users } from "../users/table.ts";
import { type CheckedOrder, checkOrder, isPage, ownOnly, subjectOf } from "./input.ts";
import { insertLines } from "./insert-lines.ts";
import { buyerOf, countTry, enforceLongHolds, enforceReservationCap, requireFewPending } from "./limits.ts";
import { mailLowStock } from "./low-stock/low-stock.ts";
import { mailPlaced } from "./mails/mails.ts";
import type { OrderInput } from "./model.ts";
import { settle } from "./payments.ts";
import { priceOrder } from "./price.ts";
import { insertEvent, orderAudience, orderJson } from "./statements.ts";
import { orders } from "./table.ts";

const insertOrder = statement(sql`
  insert into ${orders} (id, tenant_id, number, user_id, buyer, status, payment_status, fulfillment_status, currency,
    currency_digits, subtotal_minor, discount_minor, shipping_minor, shipping_tax_minor, tax_minor, total_minor,
    prices_include_tax, tax_lines, shipping_rate, discount_code, points_used, payment_method, email, email_key, phone,
    shipping_address, billing_address, note, metadata, lang, created_at, updated_at, expires_at)
  values (${param("id")}, ${param("tenantId")},
    (select coalesce(max(number), 0) + 1 from ${orders} where ${ofStore(orders)}), ${param("userId")}, ${param("buyer")},
    'pending', 'unpaid', 'unfulfilled', ${param("currency")}, ${param("digits")}, ${param("subtotal")}, ${param("discount")},
    ${param("shipping")}, ${param("shippingTax")}, ${param("tax")}, ${param("total")}, ${param("pricesIncludeTax")},
    ${param("taxLines")}, ${param("shippingRate")}, ${param("discountCode")}, ${param("usePoints")},
    ${param("paymentMethod")}, ${param("email")}, ${param("emailKey")}, ${param("phone")}, ${param("shippingAddress")},
    ${param("billingAddress")}, ${param("note")}, ${param("metadata")}, ${param("lang")}, ${param("now")}, ${param("now")},
    ${param("expiresAt")})`);
// One statement reads the new order and the addresses that are notified of it, because each statement costs time.
const selectPlaced = forEachAudience((audience) =>
  statement((q) =>
    q
      .select({ json: sql<string>`${orderJson[audience]}`, version: orders.version, staff: staffAddresses })
      .from(orders)
      .where(byId(orders)),
  ),
);
const selectUser = statement((q) =>
  q
    .select({ email: users.email, emailKey: users.emailKey })
    .from(users)
    .where(and(ofStore(users), equals(users.id, "userId"))),
);

// The table is not imported, because the payments module imports the orders module.
const selectProvider = statement(sql`select provider from payment_accounts where tenant_id = ${param("tenantId")}`);

/**
 * Checks an order before its transaction, and counts it for the rate limit. `input.subject` is the customer whom an app
 * key names by `user_id`.
 * @throws validationFailed, forbidden for fields that only the store may set, tooManyRequests.
 */
export async function prepareOrder(
  ctx: Ctx,
  input: OrderInput & { lang?: string | undefined; subject?: string | undefined },
  isDryRun = false,
) {
  const checked = checkOrder(ctx, input);
  if (isPage(ctx) && input.subject !== undefined) throw forbidden("Only keys of backends may set user_id.");
  if (isPage(ctx) && checked.email === null && !isDryRun) throw invalidField("email", "is required");
  if (checked.paymentMethod === "stripe" && !(await get(ctx.db, selectProvider, { tenantId: ctx.tenant.id })))
    throw invalidField("payment_method", "must not be stripe: the store takes no card payments");
  const userId = subjectOf(ctx, input.customer_id, input.subject);
  if (userId === null && checked.usePoints > 0) throw invalidField("use_points", "must be 0 for a guest");
  const buyer = buyerOf(ctx, userId, checked.guestIp);
  const userField = input.customer_id === undefined ? "user_id" : "customer_id";
  if (buyer !== null) {
    await findUser(ctx, userField, userId);
    await countTry(ctx, buyer, isDryRun);
  }
  return { checked, userId, buyer, userField };
}

/**
 * Creates an order in one transaction: prices it, reserves stock, spends points, assigns its number. A dry run hides
 * the number.
 * @throws validationFailed, outOfStock, notEnoughPoints, tooManyRequests, notDelivered, discountRefused; conflict for
 * another total than the expected one; notFound for a customer who was deleted meanwhile.
 */
export async function createOrder(
  ctx: Ctx,
  { checked, userId, buyer, userField }: Awaited<ReturnType<typeof prepareOrder>>,
  isDryRun = false,
): Promise<Rendered> {
  const id = newId("ord");
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    const { code, emailKey: key } = checked;
    const [found, user, rates, taxRates, discount] = await Promise.all([
      findLines(tx, checked.lines),
      findUser(tx, userField, userId),
      shippingRatesFor(tx, checked),
      taxRatesFor(tx, checked),
      code === null ? undefined : findCode(tx, code, { userId, emailKey: key }, checked.guestIp),
      buyer === null ? undefined : requireFewPending(tx, buyer),
    ]);
    const priced = await priceOrder(tx, checked, found.lines, { rates, taxRates, discount, isDryRun });
    const { email, emailKey } = checked.email === null && user ? user : checked;
    const placed = { checked, email, emailKey, id, userId, buyer, discount };
    const { order, staff } = await insert(tx, placed, { ...found, priced });
    if (buyer !== null) {
      await enforceReservationCap(tx, buyer, id);
      await enforceLongHolds(tx, id, checked.holdSeconds);
    }
    if (isDryRun) return showDryRun(order, priced.offers);
    await mailPlaced(tx, { id, email, paymentMethod: checked.paymentMethod }, JSON.parse(staff));
    await mailLowStock(tx, id, found.items);
    return priced.total === 0 ? settle(tx, id) : order;
  });
}

function shippingRatesFor(tx: Ctx, { givenShipping }: CheckedOrder) {
  return givenShipping === undefined ? keptShippingRates(tx) : [];
}

function taxRatesFor(tx: Ctx, { givenTax, destination }: CheckedOrder) {
  return givenTax === undefined ? keptTaxRates(tx, destination?.country ?? tx.tenant.country ?? "") : undefined;
}

/** A dry run assigns no number, and lists the shipping rates if none was chosen. */
function showDryRun(order: Rendered, offers: object[] | undefined): Rendered {
  // Replaces only the first match, the order's own field. The buyer's metadata come later in the JSON.
  const json = order.json
    .replace(/"number":\d+/, '"number":null')
    .replace(/"transfer_reference":"RF\d+"/, '"transfer_reference":null');
  return { ...order, json: offers ? `${json.slice(0, -1)},"shipping_rates":${JSON.stringify(offers)}}` : json };
}

async function findUser(tx: Ctx, field: string, userId: string | null) {
  if (userId === null) return undefined;
  const user = isId("usr", userId) ? await get(tx.db, selectUser, { tenantId: tx.tenant.id, userId }) : undefined;
  if (user) return user;
  throw ownOnly(tx) === null ? invalidField(field, "is not a user of this store") : notFound("user", userId);
}

interface Placed extends Record<"email" | "emailKey" | "userId" | "buyer", string | null> {
  checked: CheckedOrder;
  id: string;
  discount: UsableDiscount | undefined;
}

async function insert(
  tx: Ctx,
  { checked, discount, ...order }: Placed,
  {
    lines: items,
    items: once,
    priced,
  }: Awaited<ReturnType<typeof findLines>> & { priced: Awaited<ReturnType<typeof priceOrder>> },
) {
  const { id, userId, emailKey } = order;
  const { usePoints, lang, digits } = checked;
  const { tenant } = tx;
  const now = tx.now();
  if (usePoints > 0 && userId !== null) {
    await spendPoints(tx, { userId, points: usePoints, source: `order:${id}:redeem`, orderId: id });
  }
  const { lines: amounts, taxLines, rate, pricesIncludeTax, ...sums } = priced;
  const lines = items.map((item, index) => {
    const title = titleIn(lang, item, tenant.language);
    return { ...item, id: newId("line"), title, ...(amounts[index] as (typeof amounts)[number]) };
  });
  const placed = {
    ...checked,
    ...order,
    ...sums,
    tenantId: tenant.id,
    currency: tenant.currency,
    pricesIncludeTax: pricesIncludeTax ? 1 : 0,
    taxLines: JSON.stringify(
      taxLines.map(({ taxClass, rate, base, tax }) => ({
        ...{ class: taxClass, rate: showTaxRate(rate) },
        ...{ base: toAmount(base, digits), base_minor: base, tax: toAmount(tax, digits), tax_minor: tax },
      })),
    ),
    shippingRate: rate && JSON.stringify(rate),
    discountCode: discount?.code ?? null,
    type: "order.created",
    eventId: newId("evt"),
    now: toTimestamp(now),
    // `toTimestamp` caches one text only. A call for this time would remove the text of `now`.
    expiresAt: new Date(now + checked.holdSeconds * 1000).toISOString(),
  };
  const counted = once.filter(({ isCounted }) => isCounted);
  const selectOrder = selectPlaced[orderAudience(tx)];
  const statements = [
    bind(insertOrder, placed),
    insertLines(placed, lines),
    ...moveStock(tx, "reserve", counted, "order"),
    ...(discount ? [useDiscount(tx, discount, id, { userId, emailKey })] : []),
    bind(insertEvent, placed),
    bindFirst(selectOrder, placed),
  ];
  const results = await tx.db.batch(statements);
  const [written] = rowsOf(selectOrder, results.at(-1));
  if (!written) throw new Error("An order was written but cannot be read");
  const { json, version, staff } = written;
  return { order: { json, version }, staff };
}

/** Returns the item of each line, and the different items with their total quantities. */
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
