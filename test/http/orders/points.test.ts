import { expect, test } from "bun:test";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import type { TenantInput } from "../../../src/server/modules/tenants/input.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, readEvents, stockOf, unlimitedOrders } from "../../support/orders.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { checkAccount, givePoints } from "../../support/rewards.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { makeUser } from "../../support/users.ts";

const hour = 60 * 60_000;

onEachDatabase((suite) => {
  const { onFile } = suite;
  /** Creates a customer with 500 points, which are worth a cent each, and a product at 10. */
  async function open(tenant: TenantInput = {}): Promise<{ shop: Shop; eve: string; product: string }> {
    const shop = await suite.shop({ tenant });
    const { id: product } = await shop.createProduct({ price: 10, stock: 50 });
    const { id: eve } = await makeUser(shop);
    await givePoints(shop, eve, 500);
    return { shop, eve, product };
  }

  onFile("points reduce the price of the goods, line by line, and are spent when the order is placed", async () => {
    const { shop, eve, product } = await open();
    const { id: cheap } = await shop.createProduct({ price: 5 });
    const items = [{ product_id: product, quantity: 1 }, { product_id: cheap }];
    const order = await makeOrder(shop, items, { customer_id: eve, use_points: 301, shipping: 2 });
    expect(order).toMatchObject({ points_used: 301, discount_minor: 301, total_minor: 1399, points_earned: 0 });
    expect(order.items.map(({ discount_minor }) => discount_minor)).toEqual([201, 100]);
    expect(await checkAccount(shop, eve)).toBe(199);
    const paid = await actOn(shop, order, "pay");
    expect(paid.points_earned).toBe(13);
    expect(await checkAccount(shop, eve)).toBe(212);
  });

  onFile("an order with too many points, or with points of a guest, is refused and reserves nothing", async () => {
    const { shop, eve, product } = await open();
    const items = [{ product_id: product, quantity: 1 }];
    const cases: [Record<string, unknown>, number][] = [
      [{ customer_id: eve, use_points: 501 }, 5305],
      [{ customer_id: eve, use_points: 1001, shipping: 50 }, 5102],
      [{ use_points: 1 }, 5102],
    ];
    for (const [fields, expected] of cases) {
      expect((await shop.call("POST /orders/", { body: { items, ...fields } })).code as number).toBe(expected);
    }
    expect(await stockOf(shop, product)).toEqual({ stock: 50, reserved: 0 });
    expect(await checkAccount(shop, eve)).toBe(500);
    const query = { dry_run: "true" };
    const tried = await shop.call<OrderReply>("POST /orders/", {
      query,
      body: { items, customer_id: eve, use_points: 500 },
    });
    expect([tried.status, tried.data.points_used]).toEqual([200, 500]);
    expect(await checkAccount(shop, eve)).toBe(500);
  });

  onFile("a refund of all lines returns all used points, even if the shipping is not refunded", async () => {
    const { shop, eve, product } = await open();
    const fields = { customer_id: eve, use_points: 300, shipping: 7 };
    const order = await makeOrder(shop, [{ product_id: product, quantity: 2 }], fields);
    const paid = await actOn(shop, order, "pay");
    expect([paid.total_minor, paid.points_earned]).toEqual([2400, 24]);
    const body = { lines: [{ line_id: order.items[0]?.id, quantity: 1 }] };
    const half = await actOn(shop, order, "refund", { body });
    expect([half.refunded_minor, half.points_returned, half.points_reversed]).toEqual([850, 150, 8]);
    const goods = await actOn(shop, order, "refund", { body });
    expect([goods.refunded_minor, goods.points_returned, goods.points_reversed]).toEqual([1700, 300, 17]);
    // The customer also earned points for the shipping, which was paid.
    expect(await checkAccount(shop, eve)).toBe(507);
    const all = await actOn(shop, order, "refund");
    expect([all.points_returned, all.points_reversed, all.payment_status]).toEqual([300, 24, "refunded"]);
    expect(await checkAccount(shop, eve)).toBe(500);
  });

  /** Creates a customer. Paid orders have earned these points, and each of the `unpaid` orders has spent 100 points. */
  async function openSpent(earned: number[], unpaid: number) {
    const shop = await suite.shop();
    const { id: one } = await shop.createProduct({ price: 1 });
    const { id: eve } = await makeUser(shop);
    const order = (quantity: number, points = 0) =>
      makeOrder(shop, [{ product_id: one, quantity }], { customer_id: eve, use_points: points });
    const paid: OrderReply[] = [];
    for (const points of earned) paid.push(await actOn(shop, await order(points), "pay"));
    const spent: OrderReply[] = [];
    while (spent.length < unpaid) spent.push(await order(2, 100));
    const reversed = async () => {
      const all = await Promise.all(paid.map(({ id }) => shop.call<OrderReply>(`GET /orders/${id}/`)));
      return all.map(({ data }) => data.points_reversed);
    };
    const balance = async () => {
      expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
      return checkAccount(shop, eve);
    };
    return { shop, paid, spent, reversed, balance };
  }

  for (const how of ["cancelled", "expired"]) {
    onFile(`points that ${how} orders return are used for reversals that refunds could not complete`, async () => {
      const { shop, paid, spent, reversed, balance } = await openSpent([60, 140], 2);
      for (const order of paid) expect((await actOn(shop, order, "refund")).points_reversed).toBe(0);
      const [first, last] = spent as [OrderReply, OrderReply];
      const before = await shop.call<OrderReply>(`GET /orders/${paid[1]?.id}/`);
      const events = (await readEvents(shop, "order.refunded")).length;
      if (how === "cancelled") {
        await Promise.all([1, 2].map(() => shop.call(`POST /orders/${first.id}/cancel/`)));
        // The order returned 100 points, fewer than both refunds must reverse.
        expect([await balance(), await reversed()]).toEqual([0, [60, 40]]);
        await actOn(shop, last, "cancel");
      } else {
        suite.app.clock.advance(hour);
        await Promise.all([expireDueOrders(suite.app.system), expireDueOrders(suite.app.system)]);
      }
      expect([await balance(), await reversed()]).toEqual([0, [60, 140]]);
      const after = await shop.call<OrderReply>(`GET /orders/${paid[1]?.id}/`);
      expect(after.data.version).toBe(before.data.version + 2);
      expect(await readEvents(shop, "order.refunded")).toHaveLength(events + 3);
    });
  }

  onFile("points that a refund returns are used to reverse the earned points of another refunded order", async () => {
    const { shop, paid, spent, reversed, balance } = await openSpent([100], 1);
    const [first, last] = [...paid, ...spent] as [OrderReply, OrderReply];
    expect((await actOn(shop, last, "pay")).points_earned).toBe(1);
    await actOn(shop, first, "refund");
    expect([await balance(), await reversed()]).toEqual([0, [1]]);
    const body = { lines: [{ line_id: last.items[0]?.id, quantity: 1 }] };
    expect((await actOn(shop, last, "refund", { body })).points_returned).toBe(50);
    expect([await balance(), await reversed()]).toEqual([0, [51]]);
    const whole = await actOn(shop, last, "refund");
    expect([whole.points_returned, whole.points_reversed]).toEqual([100, 1]);
    expect([await balance(), await reversed()]).toEqual([0, [100]]);
  });

  onFile(
    "an order paid entirely with points has a total of 0, and each refunded item returns its share of points",
    async () => {
      const { shop, eve, product } = await open();
      const { id: half } = await shop.createProduct({ price: 2.5 });
      const items = [{ product_id: half, quantity: 2 }];
      const order = await makeOrder(shop, items, { customer_id: eve, use_points: 500 });
      expect([order.total, product]).toEqual([0, product]);
      expect([order.status, order.points_earned]).toEqual(["paid", 0]);
      const body = { lines: [{ line_id: order.items[0]?.id, quantity: 1 }] };
      const first = await actOn(shop, order, "refund", { body });
      expect([first.points_returned, first.payment_status]).toEqual([250, "partially_refunded"]);
      const last = await actOn(shop, order, "refund", { body });
      expect([last.points_returned, last.payment_status, last.status]).toEqual([500, "refunded", "cancelled"]);
      expect(await checkAccount(shop, eve)).toBe(500);
    },
  );

  test("50 concurrent orders with 30 points each spend no more than the balance", async () => {
    const { shop, eve, product } = await open(unlimitedOrders);
    const body = { items: [{ product_id: product, quantity: 1 }], customer_id: eve, use_points: 30 };
    const replies = await Promise.all(Array.from({ length: 50 }, () => shop.call("POST /orders/", { body })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(16);
    expect(replies.filter(({ code }) => code === 5305)).toHaveLength(34);
    expect(await checkAccount(shop, eve)).toBe(20);
    expect(await stockOf(shop, product)).toEqual({ stock: 50, reserved: 16 });
  });
});
