import type { Row } from "../../src/cli/commands/demo/stripe-stand-in/books.ts";
import type { Webhook } from "../../test/support/stripe.ts";
import type { Customer, Product, Shop } from "./shop.ts";
import type { Caller, Stage } from "./stage.ts";

export interface Order {
  id: string;
  number: number;
  status: string;
  payment_status: string;
  user_id: string | null;
  email: string;
  paid_at: string | null;
  total_minor: number;
  received_minor: number;
  refunded_minor: number;
  due_minor: number;
  points_used: number;
  points_earned: number;
  points_returned: number;
  points_reversed: number;
  transfer_reference: string | null;
  needs_attention?: string[];
  items: { id: string; product_id: string; quantity: number; fulfilled_quantity: number; restocked_quantity: number }[];
  payments: { provider: string; reference: string; amount_minor: number }[];
  refunds: { id: string; state: string; amount_minor: number }[];
  disputes?: { id: string; status: string }[];
}

/** An order, with its buyer's credentials. */
export type Sale = Order & { buyer: Caller };

export type Desk = ReturnType<typeof openDesk>;

const returnUrls = { success_url: "http://localhost/paid", cancel_url: "http://localhost/basket" };
const countries = ["DE", "DE", "DE", "AT", "FR"] as const;

/** Returns functions that act as buyers, staff, Stripe and the bank. */
export function openDesk(stage: Stage, shop: Shop) {
  const { stripe, below, must, call } = stage;
  const staff: Caller = { auth: shop.auth };
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const sent = new Set<Webhook>();
  const late: Webhook[] = [];
  /** The amounts that were transferred, in minor units, by order id. */
  const bank = new Map<string, number>();
  let buyers = 0;

  function newBasket(products: readonly Product[]) {
    const kinds = 1 + below(3);
    const skus = new Set(Array.from({ length: kinds }, () => pick(products)));
    return [...skus].map(({ id, sku }) => ({ product_id: id, quantity: sku === "JAR" ? 1 : 1 + below(3) }));
  }

  /** Places an order of a customer, or of a guest with a new email, for products that are in stock. */
  async function place(method: "stripe" | "manual", customer?: Customer): Promise<Sale> {
    buyers += 1;
    const country = pick(countries);
    const email = customer?.email ?? `guest-${buyers}@example.com`;
    const buyer: Caller = customer ? { query: customer.query } : { auth: shop.pageAuth };
    const address = { name: `Buyer ${buyers}`, line1: "1 Street", city: "Somewhere", postal_code: "10115", country };
    const rate = shop.offers.find(({ zone }) => (zone === "Germany") === (country === "DE"))?.id;
    const code = pick([undefined, undefined, "TENTH", "FIVE", "POST"]);
    const balance = customer ? (await must<{ balance: number }>("GET /rewards/", undefined, buyer)).balance : 0;
    const points = balance > 0 && below(2) === 0 ? { use_points: Math.min(balance, 100) } : {};
    const codes: unknown[] = [];
    let products: readonly Product[] = shop.products;
    for (const attempt of [{ discount_code: code, ...points }, { discount_code: code }, {}, {}, {}]) {
      products = products.filter(({ sku }) => sku !== "JAR" || codes.length === 0);
      const fixed = { email, payment_method: method, shipping_address: address, shipping_rate: rate };
      const body = { items: newBasket(products), ...fixed, ...attempt };
      const dry = await call<Order>("POST /orders/", body, { ...buyer, query: { ...buyer.query, dry_run: "true" } });
      codes.push(dry.code);
      if (dry.code !== undefined) continue;
      const expected = dry.data.total_minor / 100;
      const placed = await call<Order & { access_token?: string }>(
        "POST /orders/",
        { ...body, expected_total: expected },
        buyer,
      );
      // Another buyer took the last piece or the last use of a code, or the points are spent.
      codes.push(placed.code);
      if (placed.code !== undefined) continue;
      return {
        ...placed.data,
        buyer: { ...buyer, ...(placed.data.access_token && { orderToken: placed.data.access_token }) },
      };
    }
    throw new Error(`Nothing could be ordered: ${codes}`);
  }

  const read = (order: { id: string }) => must<Order>(`GET /orders/${order.id}/`, undefined, staff);

  /** Sends an event again until it is accepted, as Stripe does. */
  async function deliver(webhook: Webhook): Promise<void> {
    sent.add(webhook);
    for (let tries = 0; (await stripe.send(webhook)) !== 200; tries++) {
      if (tries > 400) throw new Error(`${webhook.type} is not accepted`);
      await Bun.sleep(50);
    }
  }

  const eventsOf = (row: Row) => stripe.webhooks.filter((one) => !sent.has(one) && one.body.includes(row.id));

  /** Delivers Stripe's calls about a session, payment or dispute. */
  async function tell(row: Row, how: "once" | "twice" | "late" | "lost" | "forged" = "once"): Promise<void> {
    for (const webhook of eventsOf(row)) {
      if (how === "forged") {
        const status = await stripe.send({ ...webhook, secret: "whsec_of_another" });
        if (status === 200) throw new Error("A forged call was accepted");
      }
      if (how === "once" || how === "twice") await Promise.all([deliver(webhook), how === "twice" && deliver(webhook)]);
      else sent.add(webhook);
      if (how === "late") late.push(webhook);
    }
  }

  /** Pays an order at Stripe. Returns the session. */
  async function payByCard(sale: Sale, how?: Parameters<typeof tell>[1]): Promise<Row> {
    const { url } = await must<{ url: string }>(`POST /orders/${sale.id}/checkout/`, returnUrls, sale.buyer);
    const id = url.split("/").at(-1) as string;
    stripe.pay(id);
    const session = stripe.books.find("checkout/sessions", id);
    await tell(session, how);
    if (how === undefined || how === "twice") await requireStatus(sale, "paid");
    return session;
  }

  async function payByTransfer(sale: Sale, amountMinor = sale.total_minor): Promise<void> {
    const reference = `bank-${sale.number}-${bank.get(sale.id) ?? 0}`;
    await must(`POST /orders/${sale.id}/pay/`, { amount: amountMinor / 100, reference }, staff);
    bank.set(sale.id, (bank.get(sale.id) ?? 0) + amountMinor);
  }

  async function requireStatus(sale: Sale, status: string): Promise<void> {
    const found = await read(sale);
    if (found.status !== status) throw new Error(`Order ${sale.number} is ${found.status}, not ${status}`);
  }

  /** Sends one piece of an order, and then the other pieces. */
  async function ship(sale: Sale): Promise<void> {
    const [first] = sale.items as [Order["items"][number]];
    const pieces = sale.items.reduce((sum, { quantity }) => sum + quantity, 0);
    const tracking = { carrier: "DHL", number: `0034${sale.number}` };
    const path = `POST /orders/${sale.id}/fulfillments/`;
    if (pieces > 1) await must(path, { lines: [{ line_id: first.id, quantity: 1 }], tracking }, staff);
    await must(path, { tracking }, staff);
  }

  const refund = (sale: Sale, body: object = {}) => must<Order>(`POST /orders/${sale.id}/refund/`, body, staff);
  const refundLine = (sale: Sale, returned: boolean) =>
    refund(sale, { lines: [{ line_id: sale.items[0]?.id, quantity: 1, returned }], restock: true, reason: "Cracked" });

  return {
    ...{ place, read, tell, deliver, payByCard, payByTransfer, requireStatus, ship, refund, refundLine, pick },
    ...{ late, sent, bank, staff, stripe, must, call, below, shop, stage },
  };
}
