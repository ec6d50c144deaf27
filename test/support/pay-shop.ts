import type { Ctx } from "../../src/server/context.ts";
import type { Database } from "../../src/server/db/session.ts";
import { expireDueOrders } from "../../src/server/modules/orders/expiry.ts";
import { type PaymentDeps, pollEvents, readDueCheckouts } from "../../src/server/modules/payments/jobs.ts";
import type { Checkout } from "../../src/server/modules/payments/model.ts";
import { createRefundEngine } from "../../src/server/modules/payments/refund-delivery.ts";
import { connectStripe } from "../../src/server/modules/payments/stripe/connect.ts";
import type { TenantInput } from "../../src/server/modules/tenants/input.ts";
import { startTestApp, type TestApp, vault } from "./app.ts";
import { openTestDatabase } from "./backend.ts";
import { createClock } from "./clock.ts";
import { createShop, type Shop, tenantContext } from "./factories.ts";
import { makeOrder, type OrderReply, unlimitedOrders } from "./orders.ts";
import { type Stripe, startStripe } from "./stripe.ts";

export const stripeKey = "sk_test_51standInOfStripe";
export const returnUrls = { success_url: "http://localhost/paid", cancel_url: "http://localhost/basket" };

/** The simulated Stripe of an application whose stores take card payments. */
const standIns = new WeakMap<TestApp, Promise<Stripe>>();

/** Connects a store with a simulated Stripe, which ends with the process. */
export async function connectShop(shop: Shop): Promise<{ stripe: Stripe; ctx: Ctx }> {
  const { app } = shop;
  const starting = standIns.get(app) ?? startStripe({ now: app.clock.now });
  standIns.set(app, starting);
  const stripe = await starting;
  Object.assign(app.payments, { stripeUrl: stripe.url, publicUrl: app.url });
  const ctx = { ...(await tenantContext(shop)), payments: app.payments };
  await connectStripe(ctx, { key: stripeKey });
  return { stripe, ctx };
}

/** A store whose orders are paid at a simulated Stripe, and the jobs of its server. */
export async function openPayShop(
  options: { kind?: "file" | "server"; tenant?: TenantInput; timeoutMs?: number; endpoint?: boolean } = {},
) {
  const { kind = "file", tenant = {}, timeoutMs = 2000, endpoint = true } = options;
  const database = await openTestDatabase(kind);
  const clock = createClock();
  const stripe = await startStripe({ now: clock.now });
  const payments: NonNullable<Ctx["payments"]> = { stripeUrl: stripe.url, timeoutMs };
  const app = startTestApp({ db: database.db, clock, payments });
  if (endpoint) payments.publicUrl = app.url;
  const shop = await createShop(app, { tenant: { ...unlimitedOrders, ...tenant } });
  const ctx: Ctx = { ...(await tenantContext(shop)), payments };
  await connectStripe(ctx, { key: stripeKey });
  const product = await shop.createProduct({ price: 19, stock: 1000, requires_shipping: false });
  const depsOf = (db: Database): PaymentDeps => ({ db, vault, now: clock.now, payments });
  const deps = depsOf(database.db);
  const refunds = createRefundEngine(deps);
  return {
    ...{ app, shop, stripe, ctx, clock, product, database, deps, depsOf },
    order: (fields: object = {}) => makeOrder(shop, [{ product_id: product.id, quantity: 2 }], { ...fields }),
    read: async (order: { id: string }) => (await shop.call<OrderReply>(`GET /orders/${order.id}/`)).data,
    openPage: (order: { id: string }) =>
      shop.call<Checkout>(`POST /orders/${order.id}/checkout/`, { body: returnUrls }),
    async checkout(order: { id: string }): Promise<Checkout> {
      const { status, data, text } = await shop.call<Checkout>(`POST /orders/${order.id}/checkout/`, {
        body: returnUrls,
      });
      if (status !== 200) throw new Error(`No page was opened: ${text}`);
      return data;
    },
    sessionOf: ({ url }: { url: string }) => url.split("/").at(-1) as string,
    /** Runs the server's jobs and deliveries until all are finished. */
    async runJobs(): Promise<void> {
      await readDueCheckouts(deps);
      await pollEvents(deps);
      await expireDueOrders(deps);
      await refunds.poll();
      await refunds.idle();
    },
    async close(): Promise<void> {
      await refunds.stop();
      await stripe.settle();
      await stripe.stop();
      await app.stop();
      await database.close();
    },
  };
}
