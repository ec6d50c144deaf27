import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Stripe as Library } from "stripe";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { readSale } from "../../../src/server/modules/orders/credits.ts";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { previewOrderMail } from "../../../src/server/modules/orders/mails/order-mail.ts";
import { requireRow } from "../../../src/server/modules/orders/read.ts";
import { readDueCheckouts } from "../../../src/server/modules/payments/jobs.ts";
import type { Checkout } from "../../../src/server/modules/payments/model.ts";
import { connectStripe } from "../../../src/server/modules/payments/stripe/connect.ts";
import { createShop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, stockOf, unlimitedOrders } from "../../support/orders.ts";
import { openPayShop, returnUrls, stripeKey } from "../../support/pay-shop.ts";
import { openPage, placeAsGuest } from "../../support/sale.ts";
import type { CallFault } from "../../support/stripe.ts";
import { until } from "../../support/until.ts";

Object.assign(Library.prototype, { getInitialNetworkRetryDelay: () => 0 });

let world: Awaited<ReturnType<typeof openPayShop>>;
beforeAll(async () => {
  world = await openPayShop();
});
afterAll(() => world.close());

const minute = 60_000;
const sessions = () => world.stripe.books.lists["checkout/sessions"];
const ofOrder = ({ id }: { id: string }) => sessions().filter(({ metadata }) => metadata.order === id);
/** Makes all three attempts of the Stripe library fail. */
const failThrice = (match: string, kind: CallFault["kind"]) =>
  world.stripe.faults.push(...Array(3).fill({ match, kind }));
const paid = async () => {
  const order = await world.order();
  world.stripe.pay(world.sessionOf(await world.checkout(order)));
  await world.stripe.settle();
  return { order, intent: (await world.read(order)).payments[0]?.reference as string };
};

describe("a payment page", () => {
  test("a payment page shows the amount due by line in the order's language, and accepts no other currency or promotion code", async () => {
    const order = await world.order({ lang: "de", email: "ada@example.com" });
    const page = await world.checkout(order);
    const [session] = ofOrder(order);
    expect(page).toMatchObject({ amount_minor: 3800, currency: "EUR", state: "open", url: session?.url as string });
    expect(session).toMatchObject({
      ...{ mode: "payment", amount_total: 3800, currency: "eur", locale: "de", client_reference_id: page.id },
      ...{ customer_email: "ada@example.com", adaptive_pricing: { enabled: "false" } },
    });
    expect(session?.hidden?.lines).toEqual([{ description: "Lamp", quantity: 2, currency: "eur", amount_total: 3800 }]);
    const sent = world.stripe.calls.findLast(({ call }) => call === "POST checkout/sessions");
    expect(sent?.headers["idempotency-key"]).toBe(page.id);
    expect(sent?.text).toContain("payment_method_types[0]=card");
  });

  test("repeated and concurrent calls return the same payment page; an order never has two open pages", async () => {
    const order = await world.order();
    const pages = await Promise.all([world.openPage(order), world.openPage(order), world.openPage(order)]);
    const found = pages.filter(({ status }) => status === 200).map(({ data }) => data.url);
    expect(new Set([...found, (await world.checkout(order)).url]).size).toBe(1);
    expect(ofOrder(order)).toHaveLength(1);
  });

  test("a payment page extends the order's reservation of stock to at most two hours, and closes ten minutes before the order expires", async () => {
    const order = await world.order({ expires_in: 60 });
    const page = await world.checkout(order);
    const start = Date.parse(order.created_at);
    expect(Date.parse(page.expires_at) - start).toBe(31 * minute);
    expect(Date.parse((await world.read(order)).expires_at) - start).toBe(41 * minute);
    const long = await world.order({ expires_in: 7000 });
    world.clock.advance(115 * minute);
    await world.checkout(long);
    expect(Date.parse((await world.read(long)).expires_at) - Date.parse(long.created_at)).toBe(120 * minute);
  });

  test("a payment page is opened only once if the connection is cut after Stripe has opened it", async () => {
    const lost = await world.order();
    failThrice("POST checkout", "cutAfterCommit");
    expect(await world.openPage(lost)).toMatchObject({ status: 503, code: 5001 });
    await world.checkout(lost);
    expect(ofOrder(lost)).toHaveLength(1);
  });

  test("a payment page is replaced by a new page with a new idempotency key after three failures of Stripe", async () => {
    const order = await world.order();
    failThrice("POST checkout", "status500");
    expect((await world.openPage(order)).code).toBe(5001);
    const keys = world.stripe.calls
      .filter(({ call }) => call === "POST checkout/sessions")
      .map((one) => one.headers["idempotency-key"]);
    const page = await world.checkout(order);
    expect(keys).not.toContain(page.id);
  });

  test("a payment page can be opened at most five times for an order", async () => {
    const order = await world.order({ expires_in: 2_592_000 });
    for (let count = 0; count < 5; count++) {
      world.stripe.expire(world.sessionOf(await world.checkout(order)));
      await world.stripe.settle();
    }
    expect(await world.openPage(order)).toMatchObject({ status: 409, code: 5306 });
  });

  test.each([
    ["success_url", "https://evil.example/"],
    ["success_url", "http://shop.example/"],
    ["cancel_url", "http://localhost.evil.example/"],
    ["cancel_url", "//evil.example"],
    ["cancel_url", "javascript:alert(1)"],
    ["cancel_url", "https://user:word@shop.example/"],
  ])("a payment page refuses %s %s", async (field, url) => {
    const order = await world.order();
    const body = { ...returnUrls, [field]: url };
    const { code, text } = await world.shop.call(`POST /orders/${order.id}/checkout/`, { body });
    expect(code).toBe(5102);
    expect(text).toContain(field);
    expect(ofOrder(order)).toEqual([]);
  });

  test("a payment page returns only to exact https origins of the store's keys", async () => {
    const { app_id: appId } = await world.shop.issueKey({ publish: true });
    await setOrigins(world.app.system, { appId, origins: ["shop.example", "*.pages.example"] });
    const open = async (url: string) => {
      const { id } = await world.order();
      const body = { success_url: `${url}#/paid`, cancel_url: `${url}#/left` };
      return (await world.shop.call(`POST /orders/${id}/checkout/`, { body })).status;
    };
    expect(await open("https://shop.example/")).toBe(200);
    expect(await open("https://a.pages.example/")).toBe(422);
  });

  test("a payment page shows a problem of the store's key only in the log", async () => {
    const order = await world.order();
    world.stripe.faults.push({ match: "POST checkout", kind: "status403" });
    const reply = await world.openPage(order);
    expect(reply).toMatchObject({ status: 503, error: { message: "Card payments are not available now." } });
    expect(reply.text).not.toMatch(/permission|bodega|Stripe/);
    expect(world.app.entries.at(-1)?.fault).toContain("lacks a permission at Stripe: The key (secret) does");
    await world.checkout(order);
  });

  test("a payment page refuses amounts below Stripe's minimum, and says so", async () => {
    const cheap = await world.shop.createProduct({ price: 0.2, requires_shipping: false });
    const { data } = await world.shop.call<OrderReply>("POST /orders/", {
      body: { items: [{ product_id: cheap.id, quantity: 1 }] },
    });
    const { code, error } = await world.openPage(data);
    expect(code).toBe(5306);
    expect(error?.message).toContain("must add up to at least 50 cents");
  });
});

describe("a payment", () => {
  test("a payment is booked once, even if Stripe reports it twice, before the buyer returns, or never", async () => {
    const order = await world.order();
    const page = await world.checkout(order);
    world.stripe.delivery = "held";
    world.stripe.pay(world.sessionOf(page));
    const index = world.stripe.webhooks.length - 1;
    const statuses = await Promise.all([world.stripe.deliver(index), world.stripe.deliver(index)]);
    expect(statuses).toEqual([200, 200]);
    await world.shop.call(`POST /orders/${order.id}/checkout/check/`);
    world.stripe.delivery = "auto";
    const { payments, status } = await world.read(order);
    expect([status, payments.map(({ amount_minor }) => amount_minor)]).toEqual(["paid", [3800]]);
  });

  test("a payment that Stripe has reported cannot be booked by hand again", async () => {
    const { order, intent } = await paid();
    const { code, error } = await world.shop.call(`POST /orders/${order.id}/pay/`, {
      body: { reference: intent, amount: 1 },
    });
    expect([code, error?.message]).toEqual([5302, "reference: is a payment that stripe has reported already"]);
    expect((await world.read(order)).payments).toHaveLength(1);
  });

  test("a payment that Stripe decides later keeps the order pending until the decision; then the order is paid or expires", async () => {
    for (const [isPaid, status] of [
      [true, "paid"],
      [false, "expired"],
    ] as const) {
      const order = await world.order({ expires_in: 3600 });
      const page = await world.checkout(order);
      world.stripe.pay(world.sessionOf(page), { async: true });
      await world.stripe.settle();
      expect((await world.read(order)).payment_status).toBe("payment_processing");
      world.clock.advance(3 * 60 * minute);
      await world.runJobs();
      expect((await world.read(order)).status).toBe("pending");
      expect((await world.shop.call(`POST /orders/${order.id}/cancel/`)).code).toBe(5306);
      world.stripe.settleAsync(world.sessionOf(page), isPaid);
      await world.stripe.settle();
      await world.runJobs();
      expect((await world.read(order)).status).toBe(status);
    }
  });

  test.each([
    ["amount", { amount_total: 100_000 }, 100_000],
    ["currency", { currency: "jpy" }, 0],
  ])(
    "a payment with another %s is booked, does not pay the order, and needs attention",
    async (_, changed, received) => {
      const order = await world.order();
      const session = world.sessionOf(await world.checkout(order));
      Object.assign(world.stripe.books.find("checkout/sessions", session), changed);
      world.stripe.pay(session);
      await world.stripe.settle();
      const { status, received_minor, payments, needs_attention } = await world.read(order);
      expect([status, received_minor, payments.length]).toEqual(["pending", received, 1]);
      expect(needs_attention).toContain("amount_mismatch");
      // Staff accept it by booking the amount due, which may be 0.
      expect(await actOn(world.shop, order, "pay")).toMatchObject({ status: "paid" });
    },
  );

  test("a payment whose webhook was lost is found by reading the payment page, or in Stripe's list of events", async () => {
    world.stripe.delivery = "lost";
    const order = await world.order();
    world.stripe.pay(world.sessionOf(await world.checkout(order)));
    world.clock.advance(3 * minute);
    await world.runJobs();
    const { status, payments } = await world.read(order);
    expect(status).toBe("paid");
    world.stripe.refundInDashboard(payments[0]?.reference as string, 300);
    world.stripe.delivery = "auto";
    world.clock.advance(11 * minute);
    await world.runJobs();
    expect(await world.read(order)).toMatchObject({ refunded_minor: 300, needs_attention: ["refund_unassigned"] });
  });

  test("a payment is read at Stripe at most once in five seconds for visitors, who see the stored state if Stripe does not answer", async () => {
    const guest = await openPage(world.shop);
    const data = await placeAsGuest(guest, world.product.id);
    const headers = { "x-order-token": data.access_token };
    await guest(`POST /orders/${data.id}/checkout/`, { body: returnUrls, headers });
    const reads = () => world.stripe.calls.filter(({ call }) => /^GET checkout\/sessions\/\w/.test(call)).length;
    const before = reads();
    const check = () => guest<OrderReply>(`POST /orders/${data.id}/checkout/check/`, { headers });
    await Promise.all(Array.from({ length: 10 }, check));
    expect(reads() - before).toBe(1);
    world.clock.advance(5000);
    failThrice("GET checkout", "cutBefore");
    expect(await check()).toMatchObject({ status: 200, data: { payment_status: "unpaid" } });
    world.stripe.faults.length = 0;
  });
});

describe("a change of the amount due", () => {
  test.each(["cancel", "pay"] as const)("a change of the amount due first closes the payment page: %s", async (act) => {
    const order = await world.order();
    const session = world.sessionOf(await world.checkout(order));
    await actOn(world.shop, order, act, act === "pay" ? { body: { amount: 5 } } : {});
    expect(world.stripe.books.find("checkout/sessions", session).status).toBe("expired");
  });

  test("an order whose payment page was paid cannot be cancelled, even if Stripe's webhook was lost", async () => {
    const order = await world.order();
    world.stripe.delivery = "lost";
    world.stripe.pay(world.sessionOf(await world.checkout(order)));
    world.stripe.delivery = "auto";
    expect((await world.shop.call(`POST /orders/${order.id}/cancel/`)).code).toBe(5306);
    expect((await world.read(order)).status).toBe("paid");
  });

  test("a store for which Stripe does not answer does not delay the payment pages of other stores", async () => {
    const stuck = new Set<string>();
    for (let count = 0; count < 3; count++) stuck.add(world.sessionOf(await world.checkout(await world.order())));
    const other = await createShop(world.app, { tenant: unlimitedOrders });
    await connectStripe({ ...(await tenantContext(other)), payments: world.app.payments }, { key: stripeKey });
    const product = await other.createProduct({ price: 5, requires_shipping: false });
    const order = await makeOrder(other, [{ product_id: product.id, quantity: 1 }]);
    const { data: page } = await other.call<Checkout>(`POST /orders/${order.id}/checkout/`, { body: returnUrls });
    world.stripe.delivery = "lost";
    world.stripe.pay(world.sessionOf(page));
    world.stripe.delivery = "auto";
    const answering = Promise.withResolvers<void>();
    world.stripe.pause = async ({ call }) => {
      if ([...stuck].some((session) => call.includes(session))) await answering.promise;
    };
    world.clock.advance(3 * minute);
    const reading = readDueCheckouts(world.deps);
    const status = async () => (await other.call<OrderReply>(`GET /orders/${order.id}/`)).data.payment_status;
    await until("the other store's payment", async () => (await status()) === "paid");
    expect(await Promise.race([reading, "still reading"])).toBe("still reading");
    world.stripe.pause = async () => {};
    answering.resolve();
    await reading;
  });

  test("while Stripe does not answer, an order with an open payment page expires up to an hour later", async () => {
    const order = await world.order({ expires_in: 7000 });
    world.clock.advance(115 * minute);
    await world.runJobs();
    const session = world.sessionOf(await world.checkout(order));
    world.clock.advance(6 * minute);
    failThrice("POST checkout", "cutBefore");
    await readDueCheckouts(world.deps);
    await expireDueOrders(world.deps);
    expect((await world.read(order)).status).toBe("pending");
    world.clock.advance(61 * minute);
    await expireDueOrders(world.deps);
    expect((await world.read(order)).status).toBe("expired");
    expect(world.stripe.books.find("checkout/sessions", session).status).not.toBe("complete");
  });
});

describe("a refund", () => {
  test("a refund reserves its amount, is requested once with its id, and becomes pending or succeeds", async () => {
    const { order } = await paid();
    world.stripe.books.refundsBecome = "pending";
    const both = await Promise.all(
      [1, 2].map(() => world.shop.call(`POST /orders/${order.id}/refund/`, { body: { amount: 30 } })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    failThrice("POST refunds", "cutAfterCommit");
    world.stripe.delivery = "lost";
    await world.runJobs();
    world.stripe.delivery = "auto";
    expect((await world.read(order)).refunds).toMatchObject([{ state: "requested", amount_minor: 3000 }]);
    world.clock.advance(2 * minute);
    await world.runJobs();
    world.stripe.books.refundsBecome = "succeeded";
    const made = world.stripe.books.lists.refunds.filter(({ metadata }) => metadata.order === order.id);
    expect(made).toHaveLength(1);
    expect((await world.read(order)).refunds).toMatchObject([{ state: "pending" }]);
    world.stripe.finishRefund(made[0]?.id as string, "succeeded");
    await world.stripe.settle();
    expect((await world.read(order)).refunds).toMatchObject([{ state: "succeeded" }]);
  });

  test("a refund whose answer was lost a day ago is searched at Stripe before it is requested again", async () => {
    const { order } = await paid();
    await actOn(world.shop, order, "refund", { body: { amount: 5 } });
    failThrice("POST refunds", "cutAfterCommit");
    world.stripe.delivery = "lost";
    await world.runJobs();
    world.clock.advance(25 * 60 * minute);
    await world.runJobs();
    world.stripe.delivery = "auto";
    expect(world.stripe.books.lists.refunds.filter(({ metadata }) => metadata.order === order.id)).toHaveLength(1);
    expect((await world.read(order)).refunds).toMatchObject([{ state: "succeeded" }]);
  });

  test("a refund that fails restores the amount due, needs attention, and can be requested once more", async () => {
    const { order } = await paid();
    await actOn(world.shop, order, "refund", { body: {} });
    await world.runJobs();
    const made = world.stripe.books.lists.refunds.find(({ metadata }) => metadata.order === order.id);
    world.stripe.finishRefund(made?.id as string, "failed");
    await world.stripe.settle();
    const failed = await world.read(order);
    expect(failed).toMatchObject({
      refunds: [{ error: "lost_or_stolen_card" }],
      status: "cancelled",
      payment_status: "paid",
      refunded_minor: 0,
      needs_attention: ["refund_failed"],
    });
    const retry = () => world.shop.call<OrderReply>(`POST /orders/${order.id}/refund/${failed.refunds[0]?.id}/retry/`);
    expect(await retry()).toMatchObject({ status: 200, data: { refunded_minor: 3800, needs_attention: [] } });
    expect((await retry()).code).toBe(5306);
    await world.runJobs();
    expect((await world.read(order)).refunds.map(({ state }) => state)).toEqual(["failed", "succeeded"]);
    // Both requests are one refund: one mail lists its pieces, and the books have one credit.
    const { text } = await previewOrderMail(world.ctx, order.id, "order_refunded", "en");
    expect(text.match(/2 × Lamp/g)).toHaveLength(1);
    expect((await readSale(world.ctx, await requireRow(world.ctx, order.id))).credits).toMatchObject([
      { amount: 3800 },
    ]);
  });

  test("a refund that was not requested yet fails if the same money was refunded in Stripe's dashboard", async () => {
    const { order, intent } = await paid();
    await actOn(world.shop, order, "refund", { body: { amount: 30 } });
    world.stripe.refundInDashboard(intent, 3800);
    await world.stripe.settle();
    await world.runJobs();
    expect(await world.read(order)).toMatchObject({
      refunded_minor: 3800,
      refunds: [{ state: "failed" }, { state: "succeeded" }],
      needs_attention: ["refund_failed", "refund_unassigned"],
    });
  });
});

describe("a dispute", () => {
  test("a dispute changes neither status nor stock; if it is lost, the payment counts as returned, and after a won appeal as received again", async () => {
    const { order, intent } = await paid();
    const before = await stockOf(world.shop, world.product.id);
    const { id } = world.stripe.dispute(intent);
    await world.stripe.settle();
    expect(await world.read(order)).toMatchObject({
      ...{ status: "paid", payment_status: "paid", needs_attention: ["dispute"] },
      disputes: [{ id, status: "needs_response", due_at: expect.any(String) }],
    });
    world.stripe.moveDispute(id, "lost");
    await world.stripe.settle();
    expect(await world.read(order)).toMatchObject({ status: "paid", payment_status: "refunded", due_minor: 0 });
    world.stripe.moveDispute(id, "won");
    await world.stripe.settle();
    expect(await world.read(order)).toMatchObject({ payment_status: "paid", refunded_minor: 0, needs_attention: [] });
    expect(await stockOf(world.shop, world.product.id)).toEqual(before);
  });

  test("a dispute that is only an inquiry does not count as lost", async () => {
    const { order, intent } = await paid();
    const { id } = world.stripe.dispute(intent, { status: "warning_needs_response" });
    world.stripe.moveDispute(id, "warning_closed");
    await world.stripe.settle();
    expect(await world.read(order)).toMatchObject({ payment_status: "paid", needs_attention: [] });
  });
});
