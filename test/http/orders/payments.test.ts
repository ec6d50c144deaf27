import { expect } from "bun:test";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { openAccount } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, readEvents, stockOf, unlimitedOrders } from "../../support/orders.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { checkAccount, givePoints } from "../../support/rewards.ts";
import { createCode, openPage, placeAsGuest, usesOf } from "../../support/sale.ts";
import { onEachDatabase } from "../../support/suite.ts";

const minute = 60_000;
const day = 1440 * minute;

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const expire = async (ms: number) => {
    suite.app.clock.advance(ms);
    while ((await expireDueOrders(suite.app.system)) > 0);
  };
  const read = async ({ call }: Shop, { id }: { id: string }) => (await call<OrderReply>(`GET /orders/${id}/`)).data;
  const pay = (shop: Shop, order: { id: string }, body: Record<string, unknown> = {}) =>
    actOn(shop, order, "pay", { body });
  const refuse = async ({ call }: Shop, order: { id: string }, act: string, body: Record<string, unknown> = {}) => {
    const { code, fields } = await call(`POST /orders/${order.id}/${act}/`, { body });
    return [code, ...fields] as unknown[];
  };
  /** Creates an order of two items at 10. Ten are in stock. */
  async function order(shop: Shop, fields: Record<string, unknown> = {}) {
    const { id: product } = await shop.createProduct({ price: 10, stock: 10 });
    return { product, made: await makeOrder(shop, [{ product_id: product, quantity: 2 }], fields) };
  }

  onFile("an order is paid when its payments reach its total; each reference is booked only once", async (shop) => {
    const { product, made } = await order(shop);
    const half = { amount: 12.5, reference: "bank-1", received_at: "2030-01-14" };
    const part = await pay(shop, made, half);
    expect(part).toMatchObject({
      status: "pending",
      payment_status: "partially_paid",
      received_minor: 1250,
      due_minor: 750,
    });
    expect(part.payments).toMatchObject([
      { reference: "bank-1", amount: 12.5, received_at: "2030-01-14T00:00:00.000Z" },
    ]);
    expect(await stockOf(shop, product)).toEqual({ stock: 10, reserved: 2 });
    expect(await pay(shop, made, half)).toEqual(part);
    expect(await pay(shop, made, { amount: 1, payment_reference: "bank-1" })).toEqual(part);
    const two = { reference: "bank-1", payment_reference: "bank-2" };
    expect((await shop.call(`POST /orders/${made.id}/pay/`, { body: two })).code).toBe(5102);
    expect(await actOn(shop, made, "pay", { body: half, headers: { "if-match": '"1"' } })).toEqual(part);
    // A payment without a reference is booked each time.
    expect((await pay(shop, made, { amount: 2.5 })).due_minor).toBe(500);
    expect((await pay(shop, made, { amount: 2.5 })).due_minor).toBe(250);
    const other = (await order(shop)).made;
    expect(await refuse(shop, other, "pay", { amount: 20, reference: "bank-1" })).toEqual([5302, "reference"]);
    expect(await refuse(shop, other, "pay", { payment_reference: "bank-1" })).toEqual([5302, "payment_reference"]);
    for (const [body, field] of [
      [{ amount: 0 }, "amount"],
      [{ amount: 0.001 }, "amount"],
      [{ amount: -1 }, "amount"],
      [{ reference: " " }, "reference"],
      [{ received_at: "yesterday" }, "received_at"],
      [{ received_at: "2031-01-01" }, "received_at"],
      [{ provider: "stripe" }, "provider"],
    ] as const) {
      expect([body, ...(await refuse(shop, other, "pay", body))]).toEqual([body, 5102, field]);
    }
    // Without an amount, the amount due is booked.
    const paid = await pay(shop, made, { reference: "bank-2" });
    expect(paid).toMatchObject({ status: "paid", payment_status: "paid", received_minor: 2000, due_minor: 0 });
    expect(paid.payments.map(({ amount_minor }) => amount_minor)).toEqual([1250, 250, 250, 250]);
    expect(paid.payment_reference).toBe("bank-1");
    expect(await stockOf(shop, product)).toEqual({ stock: 8, reserved: 0 });
    expect(await refuse(shop, made, "pay")).toEqual([5306]);
    expect(await readEvents(shop, "order.paid")).toHaveLength(1);
  });

  test("of many concurrent partial payments, each reference counts once, and the order is paid once", async (shop) => {
    const { made } = await order(shop);
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        shop.call(`POST /orders/${made.id}/pay/`, {
          body: { amount: 2.5, reference: `bank-${n % 8}` },
        }),
      ),
    );
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const paid = await read(shop, made);
    expect(paid).toMatchObject({ status: "paid", received_minor: 2000, due_minor: 0, needs_attention: [] });
    expect(paid.payments).toHaveLength(8);
    expect(await readEvents(shop, "order.paid")).toHaveLength(1);
  });

  onFile("surplus money is booked and needs attention, and its refund does not refund a line", async (shop) => {
    const { made } = await order(shop);
    const over = await pay(shop, made, { amount: 25, reference: "bank-1" });
    expect(over).toMatchObject({ status: "paid", payment_status: "paid", received_minor: 2500, due_minor: 0 });
    expect(over.needs_attention).toEqual(["overpaid"]);
    expect((await pay(shop, made, { amount: 1 })).needs_attention).toEqual(["overpaid"]);
    const most = { amount: 26.01 };
    expect(await refuse(shop, made, "refund", most)).toEqual([5306]);
    const part = await actOn(shop, made, "refund", { body: { amount: 2 } });
    expect(part).toMatchObject({ payment_status: "paid", due_minor: 0, needs_attention: ["overpaid"] });
    const back = await actOn(shop, made, "refund", { body: { amount: 4 } });
    expect(back).toMatchObject({ status: "paid", payment_status: "paid", refunded_minor: 600, due_minor: 0 });
    expect(back.needs_attention).toEqual([]);
    // Only surplus money was refunded, so the lines can still be refunded completely.
    const lines = [{ line_id: made.items[0]?.id, quantity: 2 }];
    const whole = await actOn(shop, made, "refund", { body: { lines } });
    expect(whole).toMatchObject({
      status: "cancelled",
      payment_status: "refunded",
      refunded_minor: 2600,
      due_minor: 0,
    });
  });

  onFile(
    "a partly paid order does not expire, needs attention, and cannot be cancelled by its customer",
    async (shop) => {
      const eve = await openAccount(shop);
      const { product, made } = await order(shop, { customer_id: eve.id });
      await pay(shop, made, { amount: 5, reference: "bank-1" });
      expect((await eve.call(`POST /orders/${made.id}/cancel/`)).code).toBe(5306);
      await expire(60 * minute);
      await expire(day);
      expect(await read(shop, made)).toMatchObject({
        status: "pending",
        needs_attention: ["partial_payment"],
        version: 3,
      });
      const { data } = await eve.call<OrderReply>(`GET /orders/${made.id}/`);
      expect(data).not.toContainAnyKeys(["needs_attention", "staff_note"]);
      const listed = await shop.call<OrderReply[]>("GET /orders/", { query: { attention: "partial_payment" } });
      expect(listed.data.map(({ id }) => id)).toEqual([made.id]);
      // Staff refund the money, and then cancel the order.
      const back = await actOn(shop, made, "refund");
      expect(back).toMatchObject({
        status: "pending",
        payment_status: "refunded",
        due_minor: 2000,
        needs_attention: [],
      });
      expect(await actOn(shop, made, "cancel")).toMatchObject({ status: "cancelled", refunded_minor: 500 });
      expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
      expect(await stockOf(shop, product)).toEqual({ stock: 10, reserved: 0 });
    },
  );

  test("when staff cancel a partly paid order, the money is refunded, and stock and discount code are released", async (shop) => {
    await createCode(shop, { code: "TEN", percent: 10 });
    const { product, made } = await order(shop, { discount_code: "TEN" });
    await pay(shop, made, { amount: 5, reference: "bank-1" });
    const stale = await shop.call(`POST /orders/${made.id}/cancel/`, { headers: { "if-match": '"1"' } });
    expect(stale.status).toBe(412);
    const replies = await Promise.all(Array.from({ length: 8 }, () => shop.call(`POST /orders/${made.id}/cancel/`)));
    expect(replies.map(({ code, status }) => code ?? status).toSorted()).toEqual([200, ...Array(7).fill(5306)]);
    const cancelled = await read(shop, made);
    expect(cancelled).toMatchObject({ status: "cancelled", payment_status: "refunded", refunded_minor: 500 });
    expect([cancelled.refunds, cancelled.needs_attention]).toEqual([[expect.objectContaining({ amount: 5 })], []]);
    expect(await stockOf(shop, product)).toEqual({ stock: 10, reserved: 0 });
    expect(await usesOf(shop, "TEN")).toBe(0);
    expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
  });

  onFile("a partly paid order expires after a refund, and is paid when the rest is paid", async (shop) => {
    const [one, other] = [(await order(shop)).made, (await order(shop)).made];
    for (const made of [one, other]) await pay(shop, made, { amount: 5 });
    await actOn(shop, one, "refund");
    await expire(60 * minute);
    expect([(await read(shop, one)).status, (await read(shop, other)).status]).toEqual(["expired", "pending"]);
    expect(await pay(shop, other)).toMatchObject({ status: "paid", needs_attention: [], received_minor: 2000 });
  });

  onFile("late money for an expired order takes its stock, points and code use again", async (shop) => {
    const eve = await openAccount(shop);
    await givePoints(shop, eve.id, 500);
    const code = await createCode(shop, { code: "FIVE", amount: 5, limit: 1 });
    const { product, made } = await order(shop, { customer_id: eve.id, use_points: 300, discount_code: "five" });
    expect(made).toMatchObject({ total_minor: 1200, discount_minor: 800, points_used: 300, discount_code: "FIVE" });
    await expire(60 * minute);
    expect([await stockOf(shop, product), await usesOf(shop, code.id), await checkAccount(shop, eve.id)]).toEqual([
      { stock: 10, reserved: 0 },
      0,
      500,
    ]);
    const some = await pay(shop, made, { amount: 4, reference: "bank-1" });
    expect(some).toMatchObject({
      status: "expired",
      payment_status: "partially_paid",
      needs_attention: ["late_payment"],
    });
    const paid = await pay(shop, made, { reference: "bank-2" });
    expect(paid).toMatchObject({ status: "paid", payment_status: "paid", needs_attention: [], points_earned: 12 });
    expect([await stockOf(shop, product), await usesOf(shop, code.id), await checkAccount(shop, eve.id)]).toEqual([
      { stock: 8, reserved: 0 },
      1,
      212,
    ]);
    await actOn(shop, made, "fulfill");
    expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
  });

  const losses: [
    what: string,
    lose: (shop: Shop, lost: { product: string; userId: string; email: string }) => unknown,
  ][] = [
    ["stock", ({ call }, { product }) => call(`PATCH /products/${product}/`, { body: { stock: 1 } })],
    ["the product", ({ call }, { product }) => call(`DELETE /products/${product}/`)],
    [
      "points",
      async (shop, { userId }) => {
        const { id } = await shop.createProduct({ price: 10 });
        await makeOrder(shop, [{ product_id: id }], { customer_id: userId, use_points: 400 });
      },
    ],
    [
      "the code's last use",
      async (shop) => {
        const { id } = await shop.createProduct({ price: 10 });
        await makeOrder(shop, [{ product_id: id }], { discount_code: "FIVE", email: "bob@example.com" });
      },
    ],
    [
      "the customer's use of the code",
      async (shop, { userId, email }) => {
        const { id } = await shop.createProduct({ price: 10 });
        await shop.call("POST /discounts/", { body: { code: "OTHER", amount: 1 } });
        await makeOrder(shop, [{ product_id: id }], { discount_code: "FIVE", customer_id: userId, email });
      },
    ],
  ];
  for (const [what, lose] of losses) {
    onFile(`late money without ${what} is booked and needs attention, but takes no stock or points`, async (shop) => {
      const eve = await openAccount(shop);
      await givePoints(shop, eve.id, 500);
      const limit = what === "the customer's use of the code" ? { limit: 2, per_customer: 1 } : { limit: 1 };
      const code = await createCode(shop, { code: "FIVE", amount: 5, ...limit });
      const { product, made } = await order(shop, { customer_id: eve.id, use_points: 300, discount_code: "FIVE" });
      await expire(60 * minute);
      await lose(shop, { product, userId: eve.id, email: eve.email });
      const before = [await stockOf(shop, product), await usesOf(shop, code.id), await checkAccount(shop, eve.id)];
      const late = await pay(shop, made, { reference: "bank-1" });
      expect(late).toMatchObject({ status: "expired", received_minor: 1200, needs_attention: ["late_payment"] });
      const after = [await stockOf(shop, product), await usesOf(shop, code.id), await checkAccount(shop, eve.id)];
      expect(after).toEqual(before);
      // Late money is never refunded automatically or by lines: staff refund all of it.
      expect(await refuse(shop, made, "refund", { lines: [{ line_id: made.items[0]?.id, quantity: 1 }] })).toEqual([
        5306,
      ]);
      const back = await actOn(shop, made, "refund");
      expect(back).toMatchObject({
        status: "expired",
        payment_status: "refunded",
        refunded_minor: 1200,
        needs_attention: [],
      });
      expect(await stockOf(shop, product)).toEqual(before[0] as never);
      expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
    });
  }

  onFile("money for a cancelled order is booked and needs attention, until staff record a decision", async (shop) => {
    const { product, made } = await order(shop);
    await actOn(shop, made, "cancel");
    const late = await pay(shop, made, { amount: 20, reference: "bank-1" });
    expect(late).toMatchObject({ status: "cancelled", payment_status: "paid", needs_attention: ["late_payment"] });
    expect(await stockOf(shop, product)).toEqual({ stock: 10, reserved: 0 });
    const resolve = (body: Record<string, unknown>) => refuse(shop, made, "attention", body);
    expect(await resolve({ kind: "overpaid", action: "accept" })).toEqual([5306]);
    expect(await resolve({ kind: "nothing", action: "accept" })).toEqual([5102, "kind"]);
    expect(await resolve({ kind: "late_payment", action: "refund" })).toEqual([5102, "action"]);
    expect(await resolve({ kind: "late_payment" })).toEqual([5102, "action"]);
    const many = await Promise.all(
      Array.from({ length: 8 }, () => resolve({ kind: "late_payment", action: "dismiss", note: "Kept.\nAs agreed." })),
    );
    expect(many.filter(([code]) => code === undefined)).toHaveLength(1);
    expect((await read(shop, made)).needs_attention).toEqual([]);
    const { rows } = await shop.app.db.execute({
      sql: "select kind, action, note, ended_by from order_attention where order_id = ?",
      args: [made.id],
    });
    expect(rows.map((row): object => ({ ...row }))).toEqual([
      { kind: "late_payment", action: "dismiss", note: "Kept.\nAs agreed.", ended_by: shop.key.app_id },
    ]);
    expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
    // Another payment needs attention again.
    expect((await pay(shop, made, { amount: 1 })).needs_attention).toEqual(["late_payment"]);
  });

  onFile(
    "an order reserves stock for the time that the store, the payment method or the order itself sets",
    async () => {
      const shop = await suite.shop({ tenant: { ...unlimitedOrders, hold: 2 * 3600, transferHold: 3 * 86_400 } });
      const { id: product } = await shop.createProduct({ stock: 1000 });
      const page = await openPage(shop);
      const held = ({ created_at, expires_at }: OrderReply) => Date.parse(expires_at) - Date.parse(created_at);
      expect(held(await makeOrder(shop, [{ product_id: product }]))).toBe(2 * 60 * minute);
      expect(held(await placeAsGuest(page, product))).toBe(2 * 60 * minute);
      expect(held(await placeAsGuest(page, product, { payment_method: "manual" }))).toBe(3 * day);
      const own = await makeOrder(shop, [{ product_id: product }], { expires_in: 60, payment_method: "manual" });
      expect(held(own)).toBe(minute);
      expect(held(await makeOrder(shop, [{ product_id: product }], { expires_in: 30 * 86_400 }))).toBe(30 * day);
      const body = { items: [{ product_id: product, quantity: 1 }] };
      // The store has no account at Stripe.
      expect((await shop.call("POST /orders/", { body: { ...body, payment_method: "stripe" } })).fields).toEqual([
        "payment_method",
      ]);
      for (const expires_in of [59, 30 * 86_400 + 1, 61.5, "60"]) {
        const { code, fields } = await shop.call("POST /orders/", { body: { ...body, expires_in } });
        expect([expires_in, code, fields]).toEqual([expires_in, 5102, ["expires_in"]]);
      }
      await expire(minute);
      expect((await read(shop, own)).status).toBe("expired");
      const { data } = await shop.call<OrderReply[]>("GET /orders/", { query: { status: "pending" } });
      expect(data).toHaveLength(4);
    },
  );

  test("visitors together reserve at most half of an item's stock for longer than an hour; this limit does not apply to staff, backends and orders that are paid at once", async () => {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const [page, other] = [await openPage(shop), await openPage(shop)];
    const { id: product } = await shop.createProduct({ stock: 20 });
    const long = (quantity: number) => ({
      body: { items: [{ product_id: product, quantity }], email: "eve@example.com", payment_method: "manual" },
    });
    expect((await page("POST /orders/", long(6))).status).toBe(201);
    const over = await other("POST /orders/", long(5));
    expect([over.code, over.fields]).toEqual([5304, ["items.0.quantity"]]);
    expect(over.error?.details?.[0]?.message).toContain("pay at once");
    expect((await other("POST /orders/", long(4))).status).toBe(201);
    const eve = await openAccount(shop);
    const { email: _email, ...body } = long(1).body;
    expect((await eve.call("POST /orders/", { body })).code).toBe(5304);
    expect((await eve.call("POST /orders/", { body: { ...body, payment_method: null } })).status).toBe(201);
    expect((await shop.call("POST /orders/", long(1))).status).toBe(201);
    expect((await shop.call("POST /orders/", { body: { ...body, customer_id: eve.id } })).status).toBe(201);
    const staff = await openAccount(shop, { role: "staff" });
    expect((await staff.call("POST /orders/", long(1))).status).toBe(201);
    expect(await stockOf(shop, product)).toEqual({ stock: 20, reserved: 14 });
    // The last item can also be bought by transfer.
    const { id: single } = await shop.createProduct({ stock: 1 });
    const one = { ...long(1).body, items: [{ product_id: single, quantity: 1 }] };
    expect((await page("POST /orders/", { body: one })).status).toBe(201);
    // Concurrent orders do not exceed the limit, either.
    const { id: next } = await shop.createProduct({ stock: 20 });
    const many = await Promise.all(
      Array.from({ length: 24 }, () =>
        page("POST /orders/", { body: { ...long(1).body, items: [{ product_id: next, quantity: 1 }] } }),
      ),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(10);
  });
});
