import { expect } from "bun:test";
import type { Shop } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, readEvents, stockOf } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

const day = 86_400_000;
const tracking = { carrier: "DHL", number: "00 34/1" };

onDatabase("file", (suite) => {
  const { test } = suite;
  /** Creates a paid order: three lamps at 10, two chairs at 5, and shipping of 4, in all 44. */
  async function open(shop: Shop) {
    const [lamp, chair] = [
      await shop.createProduct({ title: "Lamp", price: 10, stock: 9 }),
      await shop.createProduct({ price: 5, stock: 9 }),
    ];
    const items = [
      { product_id: lamp.id, quantity: 3 },
      { product_id: chair.id, quantity: 2 },
    ];
    const made = await makeOrder(shop, items, { shipping: 4 });
    const [lamps = "", chairs = ""] = made.items.map(({ id }) => id);
    const path = `/orders/${made.id}`;
    const send = async (lines?: [string, number][], more: Record<string, unknown> = {}) => {
      const body = { ...(lines && { lines: lines.map(([line_id, quantity]) => ({ line_id, quantity })) }), ...more };
      const { status, code, data, fields } = await shop.call<OrderReply>(`POST ${path}/fulfillments/`, { body });
      return { code: code ?? status, data, fields };
    };
    const refund = async (body: Record<string, unknown>) => {
      const { status, code, data, error } = await shop.call<OrderReply>(`POST ${path}/refund/`, { body });
      return { code: code ?? status, data, error };
    };
    const read = async () => (await shop.call<OrderReply>(`GET ${path}/`)).data;
    return { lamp: lamp.id, chair: chair.id, made, path, lamps, chairs, send, refund, read };
  }
  const sent = ({ items }: OrderReply) => items.map(({ fulfilled_quantity }) => fulfilled_quantity);
  const cancelled = ({ items }: OrderReply) => items.map(({ cancelled_quantity }) => cancelled_quantity);

  test("an order is sent in several parcels with tracking, and the last parcel completes it", async (shop) => {
    const { made, lamps, chairs, send } = await open(shop);
    expect((await send()).code).toBe(5306);
    await actOn(shop, made, "pay");
    const first = await send([[lamps, 2]], { tracking });
    expect(first.code).toBe(201);
    expect(first.data).toMatchObject({ status: "paid", fulfillment_status: "partially_fulfilled", fulfilled_at: null });
    expect(first.data.fulfillments).toMatchObject([
      {
        lines: [{ line_id: lamps, quantity: 2 }],
        tracking: { ...tracking, url: "https://www.dhl.com/global-en/home/tracking.html?tracking-id=00%2034%2F1" },
      },
    ]);
    expect(sent(first.data)).toEqual([2, 0]);
    expect((await send([[chairs, 1]])).data.fulfillment_status).toBe("partially_fulfilled");
    // The older endpoint sends all remaining items.
    const last = await actOn(shop, made, "fulfill");
    expect(last).toMatchObject({ status: "completed", fulfillment_status: "fulfilled", fulfilled_at: last.updated_at });
    expect(last.fulfillments[2]).toMatchObject({
      lines: [
        { line_id: lamps, quantity: 1 },
        { line_id: chairs, quantity: 1 },
      ],
      tracking: null,
    });
    expect((await send()).code).toBe(5306);
    expect(await readEvents(shop, "order.shipped")).toHaveLength(2);
    expect(await readEvents(shop, "order.fulfilled")).toHaveLength(1);
  });

  test("parcels never contain more items than remain, even with concurrent requests, and a refused parcel changes nothing", async (shop) => {
    const { made, lamps, chairs, send, read } = await open(shop);
    await actOn(shop, made, "pay");
    const other = await open(shop);
    const wrong: [lines: [string, number][], code: number, field: string][] = [
      [[[lamps, 4]], 5306, "lines.0.quantity"],
      [
        [
          [chairs, 2],
          [lamps, 4],
        ],
        5306,
        "lines.1.quantity",
      ],
      [[[lamps, 0]], 5102, "lines.0.quantity"],
      [[[lamps, 1.5]], 5102, "lines.0.quantity"],
      [
        [
          [lamps, 1],
          [lamps, 1],
        ],
        5102,
        "lines.1.line_id",
      ],
      [[[other.lamps, 1]], 5102, "lines.0.line_id"],
      [[], 5102, "lines"],
    ];
    for (const [lines, expected, field] of wrong) {
      const { code, fields } = await send(lines);
      expect<unknown[]>([lines, code, fields]).toEqual([lines, expected, [field]]);
    }
    expect((await read()).version).toBe(2);
    const many = await Promise.all(Array.from({ length: 12 }, () => send([[lamps, 1]])));
    expect(many.filter(({ code }) => code === 201)).toHaveLength(3);
    expect(many.filter(({ code }) => code === 5306)).toHaveLength(9);
    const found = await read();
    expect([sent(found), found.fulfillments.length]).toEqual([[3, 0], 3]);
  });

  test("tracking can be changed and removed, and its page must be a web address", async (shop) => {
    const { made, path, send } = await open(shop);
    await actOn(shop, made, "pay");
    const id = (await send(undefined, { tracking })).data.fulfillments[0]?.id;
    const change = async (value: unknown) => {
      const { status, code, fields, data } = await shop.call<OrderReply>(`PATCH ${path}/fulfillments/${id}/`, {
        body: { tracking: value },
      });
      return [code ?? status, ...fields, data?.fulfillments[0]?.tracking] as unknown[];
    };
    const own = { carrier: "Bike", number: "7", url: "https://bike.example/7" };
    expect(await change(own)).toEqual([200, own]);
    expect(await change({ carrier: "royal mail", number: "AB" })).toEqual([
      200,
      { carrier: "royal mail", number: "AB", url: "https://www.royalmail.com/track-your-item#/tracking-results/AB" },
    ]);
    expect(await change({ carrier: "Horse", number: "1" })).toEqual([
      200,
      { carrier: "Horse", number: "1", url: null },
    ]);
    expect(await change(null)).toEqual([200, null]);
    for (const url of ["javascript:alert(1)", "//x", "dhl"]) {
      expect(await change({ url })).toEqual([5102, "tracking.url", undefined]);
    }
    expect(await change({ number: " " })).toEqual([5102, "tracking.number", undefined]);
    const other = await open(shop);
    expect((await shop.call(`PATCH ${other.path}/fulfillments/${id}/`, { body: { tracking: null } })).code).toBe(5301);
  });

  test("a parcel can be deleted within 24 hours, and then its items must be sent again", async (shop) => {
    const { made, path, lamps, send } = await open(shop);
    await actOn(shop, made, "pay");
    const ids: string[] = [];
    for (const lines of [[[lamps, 1]], undefined] as [string, number][][]) {
      ids.push((await send(lines)).data.fulfillments.at(-1)?.id ?? "");
    }
    const remove = (id = "") => shop.call<OrderReply>(`DELETE ${path}/fulfillments/${id}/`);
    suite.app.clock.advance(day);
    const { data } = await remove(ids[1]);
    expect(data).toMatchObject({ status: "paid", fulfillment_status: "partially_fulfilled", fulfilled_at: null });
    expect([sent(data), data.fulfillments.map(({ id }) => id)]).toEqual([[1, 0], [ids[0] as string]]);
    expect((await remove(ids[1])).code).toBe(5301);
    suite.app.clock.advance(1);
    expect((await remove(ids[0])).code).toBe(5306);
    const many = (await send()).data.fulfillments.at(-1)?.id;
    const replies = await Promise.all(Array.from({ length: 8 }, () => remove(many)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 5301)).toHaveLength(7);
  });

  test("a parcel with returned and refunded items cannot be deleted, so that no item is sent twice", async (shop) => {
    const { made, path, lamps, send, refund, read } = await open(shop);
    await actOn(shop, made, "pay");
    const id = (await send([[lamps, 2]])).data.fulfillments[0]?.id;
    await refund({ lines: [{ line_id: lamps, quantity: 1, returned: true }] });
    expect((await shop.call(`DELETE ${path}/fulfillments/${id}/`)).code).toBe(5306);
    const { data } = await send();
    expect(data).toMatchObject({ status: "completed" });
    expect(sent(await read())).toEqual([3, 2]);
  });

  test("a refund without `returned` covers only items that were not sent; a refund with `returned` covers items that came back", async (shop) => {
    const { made, lamp, lamps, chairs, send, refund, read } = await open(shop);
    await actOn(shop, made, "pay");
    await send([[lamps, 2]]);
    const line = (quantity: number, returned?: boolean) => ({
      lines: [{ line_id: lamps, quantity, ...(returned !== undefined && { returned }) }],
    });
    // Only one lamp was not sent yet.
    const two = await refund(line(2));
    expect([two.code, two.error?.details?.[0]?.message]).toEqual([5306, expect.stringContaining("1 of Lamp")]);
    const unsent = await refund({ ...line(1), restock: true });
    expect([cancelled(unsent.data), unsent.data.refunded_minor, unsent.data.status]).toEqual([[1, 0], 1000, "paid"]);
    expect(await stockOf(shop, lamp)).toEqual({ stock: 7, reserved: 0 });
    expect((await refund(line(1))).code).toBe(5306);
    expect((await refund(line(3, true))).code).toBe(5306);
    const back = await refund(line(2, true));
    expect([cancelled(back.data), back.data.refunded_minor]).toEqual([[1, 0], 3000]);
    expect((await refund(line(1, true))).code).toBe(5306);
    // Only the chairs must be sent. After their refund, nothing must be sent, and a part was sent, so the order is
    // completed.
    expect(back.data).toMatchObject({ status: "paid", fulfillment_status: "partially_fulfilled" });
    const rest = await refund({ lines: [{ line_id: chairs, quantity: 2 }] });
    expect(rest.data).toMatchObject({ status: "completed", fulfillment_status: "fulfilled", refunded_minor: 4000 });
    expect(cancelled(await read())).toEqual([1, 2]);
    expect((await send()).code).toBe(5306);
    // Shipping costs can be refunded in parts, but not more than once.
    expect((await refund({ shipping: 4.01 })).code).toBe(5306);
    const shipping = (await refund({ shipping: 1.5 })).data;
    expect(shipping.refunds.at(-1)?.shipping_minor).toBe(150);
    expect((await refund({ shipping: 2.51 })).code).toBe(5306);
    expect((await refund({ shipping: 2.5 })).data).toMatchObject({ payment_status: "refunded", due_minor: 0 });
  });

  test("a goodwill refund does not reduce the items to send; a refund of more than the remaining amount is refused", async (shop) => {
    const { made, send, refund, chairs } = await open(shop);
    await actOn(shop, made, "pay");
    const goodwill = await refund({ amount: 30, reason: "Late." });
    expect(goodwill.data).toMatchObject({ payment_status: "partially_refunded", status: "paid", due_minor: 0 });
    expect((await refund({ amount: 14.01 })).code).toBe(5306);
    expect((await refund({ lines: [{ line_id: chairs, quantity: 2 }], shipping: 4, amount: 0.01 })).code).toBe(5306);
    expect((await refund({ amount: 0 })).code).toBe(5102);
    expect((await send()).data.status).toBe("completed");
    const all = await refund({});
    expect(all.data).toMatchObject({ payment_status: "refunded", refunded_minor: 4400, due_minor: 0 });
    expect(all.data.refunds.map((one) => [one.amount_minor, one.shipping_minor])).toEqual([
      [3000, 0],
      [1400, 0],
    ]);
    expect((await refund({})).code).toBe(5306);
  });

  test("refunds of surplus, goodwill, lines and the remaining amount add up in any order", async (shop) => {
    const steps: Record<string, Record<string, unknown>> = { goodwill: { amount: 8 }, half: { shipping: 2 } };
    for (const names of [["goodwill"], ["goodwill", "line"], ["half", "line", "goodwill"], ["line", "goodwill"]]) {
      const { made, lamps, refund } = await open(shop);
      await actOn(shop, made, "pay", { body: { amount: 54 } });
      for (const name of names) {
        const { code } = await refund(steps[name] ?? { lines: [{ line_id: lamps, quantity: 3 }] });
        expect([name, code]).toEqual([name, 200]);
      }
      const { code, data } = await refund({});
      const expected = { refunded_minor: 5400, payment_status: "refunded", status: "cancelled", needs_attention: [] };
      expect([names, code, data]).toMatchObject([names, 200, expected]);
      const given = data.refunds.map((one) => one.shipping_minor);
      expect(Math.min(...given)).toBeGreaterThanOrEqual(0);
      expect(given.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(400);
    }
  });

  test("a refund from several payments has one row for each payment, up to the remaining amount of that payment", async (shop) => {
    const { made, refund } = await open(shop);
    for (const [n, amount] of [20, 14, 10].entries()) {
      await actOn(shop, made, "pay", { body: { amount, reference: `bank-${n}` } });
    }
    await refund({ amount: 25 });
    const { data } = await refund({ amount: 12 });
    expect(data.refunds.map(({ amount_minor }) => amount_minor)).toEqual([2000, 500, 900, 300]);
    const many = await Promise.all(Array.from({ length: 10 }, () => refund({ amount: 2 })));
    expect(many.filter(({ code }) => code === 200)).toHaveLength(3);
    expect(many.filter(({ code }) => code === 5306)).toHaveLength(7);
  });
});
