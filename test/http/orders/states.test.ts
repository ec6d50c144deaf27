import { expect } from "bun:test";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import type { Shop } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, readEvents, stockOf } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

const minute = 60_000;
type Act = "cancel" | "pay" | "fulfill" | "refund";

/** The states of an order: the acts that lead to a state, and the acts that are possible in it. */
const states: { state: OrderReply["status"]; path: Act[]; possible: Act[] }[] = [
  { state: "pending", path: [], possible: ["cancel", "pay"] },
  { state: "paid", path: ["pay"], possible: ["fulfill", "refund"] },
  { state: "completed", path: ["pay", "fulfill"], possible: ["refund"] },
  // A late payment is booked, and staff decide about it.
  { state: "cancelled", path: ["cancel"], possible: ["pay"] },
  { state: "cancelled", path: ["pay", "refund"], possible: [] },
  { state: "completed", path: ["pay", "fulfill", "refund"], possible: [] },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  async function order(shop: Shop, quantity = 2): Promise<{ product: string; made: OrderReply }> {
    const { id } = await shop.createProduct({ stock: 10, price: 10 });
    return { product: id, made: await makeOrder(shop, [{ product_id: id, quantity }]) };
  }

  for (const { state, path, possible } of states) {
    test(`after ${path.join(" and ") || "nothing"} an order is ${state}, and only ${possible.join(" and ") || "nothing"} is possible`, async (shop) => {
      for (const act of ["cancel", "pay", "fulfill", "refund"] as const) {
        const { made } = await order(shop);
        for (const step of path) await actOn(shop, made, step);
        const before = await shop.call<OrderReply>(`GET /orders/${made.id}/`);
        expect([before.data.status, before.data.version]).toEqual([state, path.length + 1]);
        const { code } = await shop.call(`POST /orders/${made.id}/${act}/`);
        expect([act, code]).toEqual([act, possible.includes(act) ? undefined : 5306]);
        if (possible.includes(act)) continue;
        expect((await shop.call(`GET /orders/${made.id}/`)).data).toEqual(before.data as never);
      }
    });
  }

  test("a payment reduces the stock and increases the product's version; a cancellation releases reserved stock and does not change the version", async (shop) => {
    const { product, made } = await order(shop, 3);
    suite.app.clock.advance(minute);
    const paid = await actOn(shop, made, "pay");
    expect(paid).toMatchObject({
      payment_status: "paid",
      fulfillment_status: "unfulfilled",
      payment_reference: null,
    });
    expect(Date.parse(paid.paid_at as string) - Date.parse(paid.created_at)).toBe(minute);
    expect(paid.updated_at).toBe(paid.paid_at as string);
    expect(await stockOf(shop, product)).toEqual({ stock: 7, reserved: 0 });
    const read = await shop.call<{ version: number; stock: number }>(`GET /products/${product}/`);
    expect([read.data.version, read.data.stock]).toEqual([2, 7]);
    const next = await makeOrder(shop, [{ product_id: product, quantity: 4 }]);
    expect(await stockOf(shop, product)).toEqual({ stock: 7, reserved: 4 });
    const cancelled = await actOn(shop, next, "cancel");
    expect(cancelled).toMatchObject({ payment_status: "unpaid", cancelled_at: cancelled.updated_at });
    expect(await stockOf(shop, product)).toEqual({ stock: 7, reserved: 0 });
    expect((await shop.call<{ version: number }>(`GET /products/${product}/`)).data.version).toBe(2);
    const reasons = (await readEvents(shop, "stock.changed")).map(({ reason, stock, reserved }) => [
      reason,
      stock,
      reserved,
    ]);
    expect(reasons).toEqual([
      ["order", 10, 3],
      ["pay", 7, 0],
      ["order", 7, 4],
      ["cancel", 7, 0],
    ]);
    const done = await actOn(shop, paid, "fulfill");
    expect(done).toMatchObject({
      status: "completed",
      fulfillment_status: "fulfilled",
      fulfilled_at: done.updated_at,
    });
    for (const type of ["order.paid", "order.cancelled", "order.fulfilled"]) {
      expect((await readEvents(shop, type)).map(({ number }) => number)).toEqual([type === "order.cancelled" ? 2 : 1]);
    }
  });

  test("an order that was placed before the product's stock was counted does not reduce the stock", async (shop) => {
    const { id } = await shop.createProduct();
    const [kept, given] = [await makeOrder(shop, [{ product_id: id }]), await makeOrder(shop, [{ product_id: id }])];
    await shop.call(`PATCH /products/${id}/`, { body: { stock: 5 } });
    await makeOrder(shop, [{ product_id: id, quantity: 3 }]);
    await actOn(shop, kept, "pay");
    await actOn(shop, given, "cancel");
    await actOn(shop, kept, "refund", { body: { restock: true } });
    expect(await stockOf(shop, id)).toEqual({ stock: 5, reserved: 3 });
  });

  test("a free order is paid at once, and can be fulfilled and refunded", async (shop) => {
    const { id } = await shop.createProduct({ price: 0, stock: 1 });
    const made = await makeOrder(shop, [{ product_id: id }]);
    expect([made.status, made.payment_status]).toEqual(["paid", "paid"]);
    expect((await shop.call(`POST /orders/${made.id}/pay/`)).code).toBe(5306);
    await actOn(shop, made, "fulfill");
    const back = await actOn(shop, made, "refund", { body: { restock: true } });
    expect(back).toMatchObject({ status: "completed", payment_status: "refunded", refunded: 0, total: 0 });
    expect(await stockOf(shop, id)).toEqual({ stock: 1, reserved: 0 });
  });

  test("unpaid orders expire after an hour, and only once with any number of background jobs", async (shop) => {
    const { clock, system } = suite.app;
    // The orders of other tests expire first.
    clock.advance(60 * minute);
    while ((await expireDueOrders(system)) > 0);
    const { id } = await shop.createProduct({ stock: 20 });
    const early: OrderReply[] = [];
    for (let i = 0; i < 5; i++) early.push(await makeOrder(shop, [{ product_id: id, quantity: 2 }]));
    await actOn(shop, early[0] as OrderReply, "pay");
    clock.advance(30 * minute);
    const late = await makeOrder(shop, [{ product_id: id, quantity: 3 }]);
    clock.advance(30 * minute - 1);
    expect(await expireDueOrders(system)).toBe(0);
    clock.advance(1);
    // Until the job expires an order, its items are reserved, and even a late payment is booked.
    await actOn(shop, early[4] as OrderReply, "pay");
    const unpaid = await shop.call(`POST /orders/${late.id}/fulfill/`);
    expect([unpaid.code, unpaid.error?.message]).toEqual([
      5306,
      `Order ${late.id} is pending. Only paid orders can be fulfilled.`,
    ]);
    const other = await suite.database.openAgain();
    const swept = await Promise.all([system, { ...system, db: other }, system].map(expireDueOrders));
    expect(swept.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(await expireDueOrders(system)).toBe(0);
    expect(await stockOf(shop, id)).toEqual({ stock: 16, reserved: 3 });
    const { data } = await shop.call<OrderReply[]>("GET /orders/", { query: { sort: "number" } });
    expect(data.map(({ status }) => status)).toEqual(["paid", "expired", "expired", "expired", "paid", "pending"]);
    expect(data[1]).toMatchObject({ version: 2, payment_status: "unpaid", cancelled_at: null });
    expect(await readEvents(shop, "order.expired")).toHaveLength(3);
    expect((await shop.call(`POST /orders/${early[1]?.id}/cancel/`)).code).toBe(5306);
    await actOn(shop, late, "cancel");
  });
});
