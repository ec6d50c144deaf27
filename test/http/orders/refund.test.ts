import { expect } from "bun:test";
import type { Shop } from "../../support/factories.ts";
import { actOn, countOrderRows, makeOrder, type OrderReply, readEvents, stockOf } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const { test } = suite;
  /** Creates a paid order: three items at 3.33, one at 5, shipping of 2 and tax of 1, in all 17.99. */
  async function paidOrder(shop: Shop): Promise<{ lamp: string; order: OrderReply; lines: [string, string] }> {
    const { id: lamp } = await shop.createProduct({ price: 3.33, stock: 10 });
    const { id: chair } = await shop.createProduct({ price: 5 });
    const items = [{ product_id: lamp, quantity: 3 }, { product_id: chair }];
    const order = await makeOrder(shop, items, { shipping: 2, tax: 1 });
    expect(order.items.map((line) => [line.tax_minor, line.total_minor])).toEqual([
      [67, 1066],
      [33, 533],
    ]);
    await actOn(shop, order, "pay");
    return { lamp, order, lines: order.items.map(({ id }) => id) as [string, string] };
  }
  const refund = (shop: Shop, order: OrderReply, body: Record<string, unknown>) =>
    actOn(shop, order, "refund", { body });

  test("partial refunds of a line add up to its total, and the last refund contains the remaining amount and shipping", async (shop) => {
    const { lamp, order, lines } = await paidOrder(shop);
    const one = { lines: [{ line_id: lines[0], quantity: 1 }] };
    const first = await refund(shop, order, { ...one, restock: true, reason: "Broken.\nSorry." });
    expect(first).toMatchObject({ status: "paid", payment_status: "partially_refunded", refunded: 3.55, version: 3 });
    expect(first.refunds).toHaveLength(1);
    expect(first.refunds[0]).toMatchObject({ amount_minor: 355, reason: "Broken.\nSorry." });
    expect(first.refunds[0]?.lines as object[]).toEqual([
      { line_id: lines[0], quantity: 1, amount: 3.55, amount_minor: 355, restock: true },
    ]);
    const second = await refund(shop, order, one);
    expect(second.refunded_minor).toBe(710);
    const third = await refund(shop, order, one);
    expect([third.items[0]?.refunded_minor, third.items[0]?.refunded_quantity]).toEqual([1066, 3]);
    expect(third.items[0]?.restocked_quantity).toBe(1);
    expect(await stockOf(shop, lamp)).toEqual({ stock: 8, reserved: 0 });
    const last = await refund(shop, order, { restock: true });
    expect(last).toMatchObject({ status: "cancelled", payment_status: "refunded", refunded: 17.99 });
    expect(last.cancelled_at).toBe(last.updated_at);
    expect(last.refunds.map(({ amount_minor }) => amount_minor)).toEqual([355, 355, 356, 733]);
    expect(await stockOf(shop, lamp)).toEqual({ stock: 8, reserved: 0 });
    const totals = (await readEvents(shop, "order.refunded")).map(({ payment_status }) => payment_status);
    expect(totals).toEqual(["partially_refunded", "partially_refunded", "partially_refunded", "refunded"]);
  });

  test("restocking beyond the maximum stock does not block a refund", async (shop) => {
    const { lamp, order } = await paidOrder(shop);
    const most = 1_000_000_000_000;
    await shop.call(`PATCH /products/${lamp}/`, { body: { stock: most } });
    expect((await refund(shop, order, { restock: true })).payment_status).toBe("refunded");
    expect(await stockOf(shop, lamp)).toEqual({ stock: most, reserved: 0 });
  });

  test("after a refund of all lines, the shipping can still be refunded; a completed order stays completed", async (shop) => {
    const { order, lines } = await paidOrder(shop);
    await actOn(shop, order, "fulfill");
    const both = [
      { line_id: lines[1], quantity: 1, returned: true },
      { line_id: lines[0], quantity: 3, returned: true },
    ];
    const unsent = both.map(({ returned: _returned, ...line }) => line);
    expect((await shop.call(`POST /orders/${order.id}/refund/`, { body: { lines: unsent } })).code).toBe(5306);
    const most = await refund(shop, order, { lines: both });
    expect(most).toMatchObject({ status: "completed", payment_status: "partially_refunded", refunded: 15.99 });
    const all = await refund(shop, order, {});
    expect(all).toMatchObject({
      status: "completed",
      payment_status: "refunded",
      refunded: 17.99,
      cancelled_at: null,
    });
    expect((await shop.call(`POST /orders/${order.id}/refund/`)).code).toBe(5306);
  });

  test("a refund with too large quantities, lines of other orders or malformed lines is refused without any effect", async (shop) => {
    const { order, lines } = await paidOrder(shop);
    const other = await paidOrder(shop);
    await refund(shop, order, { lines: [{ line_id: lines[0], quantity: 2 }] });
    const before = await countOrderRows(shop);
    const line = { line_id: lines[0], quantity: 1 };
    const cases: [Record<string, unknown>, number, string[]][] = [
      [
        {
          lines: [
            { line_id: lines[1], quantity: 1 },
            { ...line, quantity: 2 },
          ],
        },
        5306,
        ["lines.1.quantity"],
      ],
      [{ lines: [line, line] }, 5102, ["lines.1.line_id"]],
      [{ lines: [{ line_id: other.lines[0], quantity: 1 }] }, 5102, ["lines.0.line_id"]],
      [{ lines: [{ line_id: "line_x", quantity: 1 }] }, 5102, ["lines.0.line_id"]],
      [{ lines: [{ ...line, quantity: 0 }] }, 5102, ["lines.0.quantity"]],
      [{ lines: [{ ...line, amount: 5 }] }, 5102, ["lines.0.amount"]],
      [{ lines: [] }, 5102, ["lines"]],
      [{ amount: 0.001 }, 5102, ["amount"]],
      [{ amount: 500 }, 5306, []],
      [{ shipping: 2.01 }, 5306, []],
      [{ restock: "yes" }, 5102, ["restock"]],
      [{ reason: " " }, 5102, ["reason"]],
    ];
    for (const [body, expected, names] of cases) {
      const { code, fields } = await shop.call(`POST /orders/${order.id}/refund/`, { body });
      expect([code as number, fields]).toEqual([expected, names]);
    }
    expect(await countOrderRows(shop)).toEqual(before);
    expect((await shop.call<OrderReply>(`GET /orders/${order.id}/`)).data).toMatchObject({
      version: 3,
      refunded: 7.1,
    });
  });

  test("a dry run of a refund returns the refund, and refunds nothing", async (shop) => {
    const { lamp, order } = await paidOrder(shop);
    const before = await countOrderRows(shop);
    const send = { query: { dry_run: "true" }, body: { restock: true } };
    const tried = await actOn(shop, order, "refund", send);
    expect(tried).toMatchObject({ status: "cancelled", refunded: 17.99, version: 3 });
    expect(await countOrderRows(shop)).toEqual(before);
    expect(await stockOf(shop, lamp)).toEqual({ stock: 7, reserved: 0 });
    const { data } = await shop.call<OrderReply>(`GET /orders/${order.id}/`);
    expect(data).toMatchObject({ status: "paid", refunded: 0, version: 2 });
  });
});
