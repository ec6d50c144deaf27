import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { bind, param, statement } from "../../db/statement.ts";
import { newId } from "../../values/ids.ts";
import { formatMinor } from "../../values/money.ts";
import { compileEvent } from "../events/service.ts";
import { orderLines, orderNumbers } from "./table.ts";

/** A line of an order that is created. `options` is JSON text. */
export type NewLine = Record<"id" | "productId" | "title" | "options", string> &
  Record<"variantId" | "variantTitle" | "sku" | "image", string | null> &
  Record<"priceMinor" | "quantity" | "subtotal" | "discount" | "tax" | "total", number> & { isCounted: boolean };

/** An order that is created. `shippingAddress` is JSON text. */
type NewOrder = Record<"id" | "tenantId" | "currency" | "lang" | "now" | "expiresAt", string> &
  Record<"userId" | "shippingAddress" | "note", string | null> &
  Record<"digits" | "subtotal" | "discount" | "shipping" | "tax" | "total" | "usePoints", number>;

const insert = statement(sql`
  insert into ${orderLines} (tenant_id, order_id, position, id, product_id, variant_id, title, variant_title, sku, options,
    image, price_minor, quantity, subtotal_minor, discount_minor, tax_minor, total_minor, is_counted) values `).sql;
const marks = `(${Array(18).fill("?")})`;

/** The statement that inserts all lines. One for each number of lines: a libSQL server parses JSON paths more slowly. */
export function insertLines({ tenantId, id }: NewOrder, lines: readonly NewLine[]): InStatement {
  const args = lines.flatMap((line, position) => {
    const { productId, variantId, title, variantTitle, sku, options, image, isCounted } = line;
    const texts = [line.id, productId, variantId, title, variantTitle, sku, options, image];
    const { priceMinor, quantity, subtotal, discount, tax, total } = line;
    return [tenantId, id, position, ...texts, priceMinor, quantity, subtotal, discount, tax, total, isCounted];
  });
  return { sql: insert + lines.map(() => marks).join(), args };
}

const insertEvent = compileEvent({
  type: sql`'order.created'`,
  subject: sql`${param("id")}`,
  data: sql`'{"number":' || last || ${param("others")}`,
  from: sql`${orderNumbers} where tenant_id = ${param("tenantId")}`,
});

/** The statement that records a new order, whose number was assigned before, with the data that `insertEvent` of others has. */
export function orderCreated(order: NewOrder): InStatement {
  const status = { status: "pending", payment_status: "unpaid", fulfillment_status: "unfulfilled" };
  const total = `"total":${formatMinor(order.total, order.digits)}`;
  const others = `,${membersOf(status, total, { currency: order.currency }).slice(1)}`;
  return bind(insertEvent, { ...order, eventId: newId("evt"), others });
}

/** A new order as JSON text, as `orderJson` reads it. A libSQL server takes as long to parse that as to insert the order. */
export function renderNewOrder(order: NewOrder, lines: readonly NewLine[], number: number | null): string {
  const { subtotal, discount, shipping, tax, total, now } = order;
  const amounts = (of: Record<string, number>) =>
    Object.entries(of).map(([name, minor]) => `"${name}":${formatMinor(minor, order.digits)},"${name}_minor":${minor}`);
  const items = lines.map((line) =>
    membersOf(
      { id: line.id, product_id: line.productId, variant_id: line.variantId, title: line.title },
      { variant_title: line.variantTitle, sku: line.sku },
      `"options":${line.options}`,
      { image: line.image },
      ...amounts({ price: line.priceMinor }),
      { quantity: line.quantity },
      ...amounts({ subtotal: line.subtotal, discount: line.discount, tax: line.tax, total: line.total }),
      { refunded_quantity: 0 },
      ...amounts({ refunded: 0 }),
      { restocked_quantity: 0 },
    ),
  );
  return membersOf(
    { id: order.id, number, user_id: order.userId, status: "pending", payment_status: "unpaid" },
    { fulfillment_status: "unfulfilled", currency: order.currency },
    `"items":[${items}]`,
    ...amounts({ subtotal, discount, shipping, tax, total, refunded: 0 }),
    { points_used: order.usePoints, points_earned: 0, points_returned: 0, points_reversed: 0, payment_reference: null },
    `"shipping_address":${order.shippingAddress}`,
    { note: order.note, lang: order.lang, refunds: [], version: 1, created_at: now, updated_at: now },
    { expires_at: order.expiresAt, paid_at: null, fulfilled_at: null, cancelled_at: null },
  );
}

/** An object of members, which are values or JSON text such as `"price":19.90`. */
function membersOf(...parts: (string | Record<string, unknown>)[]): string {
  return `{${parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part).slice(1, -1)))}}`;
}
