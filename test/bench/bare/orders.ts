// Orders of the bare side. One transaction reserves stock with a conditional update, assigns a number without gaps, and
// inserts the order and its line. There are no credentials, checks and events.
import type { Database } from "bun:sqlite";

interface Input {
  items: [{ product_id: string; quantity: number }];
}

interface Held {
  title: string;
  sku: string | null;
  image: string | null;
  price_minor: number;
  currency: string;
  currency_digits: number;
}

/**
 * Prepares the statements. The returned function takes a body and returns the order as JSON, or undefined if the
 * product is sold out.
 */
export function prepareOrders(db: Database, tenantId: string): (input: Input) => string | undefined {
  const hold = db.query<Held, (string | number)[]>(
    `update products set reserved = reserved + ? where tenant_id = ? and id = ? and deleted_at is null
      and status = 'published' and (stock is null or stock - reserved >= ?)
    returning title, sku, json_extract(images, '$[0].url') as image, price_minor, currency, currency_digits`,
  );
  const insertOrder = db.query<{ number: number }, (string | number)[]>(
    `insert into orders (id, tenant_id, number, status, payment_status, fulfillment_status, currency, currency_digits,
      subtotal_minor, total_minor, lang, created_at, updated_at, expires_at)
    values (?1, ?2, (select coalesce(max(number), 0) + 1 from orders where tenant_id = ?2), 'pending', 'unpaid',
      'unfulfilled', ?3, ?4, ?5, ?5, 'en', ?6, ?6, ?7) returning number`,
  );
  const insertLine = db.query(
    `insert into order_lines (id, tenant_id, order_id, position, product_id, title, sku, image, price_minor, quantity,
      subtotal_minor, total_minor, is_counted)
    values (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
  );
  const order = db.transaction(({ items: [item] }: Input) => {
    const { product_id, quantity } = item;
    const held = hold.get(quantity, tenantId, product_id, quantity);
    if (!held) return undefined;
    const now = new Date();
    const created_at = now.toISOString();
    const expires_at = new Date(now.getTime() + 3_600_000).toISOString();
    const id = `ord_${Bun.randomUUIDv7()}`;
    const lineId = `line_${Bun.randomUUIDv7()}`;
    const minor = held.price_minor * quantity;
    const { currency, currency_digits, title, sku, image, price_minor } = held;
    const placed = insertOrder.get(id, tenantId, currency, currency_digits, minor, created_at, expires_at);
    insertLine.run(lineId, tenantId, id, product_id, title, sku, image, price_minor, quantity, minor, minor);
    const total = minor / 100;
    const price = price_minor / 100;
    const line = { id: lineId, product_id, title, sku, image, price, price_minor, quantity, total, total_minor: minor };
    const states = { status: "pending", payment_status: "unpaid", fulfillment_status: "unfulfilled" };
    const amounts = { currency, items: [line], subtotal: total, subtotal_minor: minor, total, total_minor: minor };
    return JSON.stringify({ id, ...placed, ...states, ...amounts, version: 1, created_at, expires_at });
  });
  return (input) => order.immediate(input);
}
