import { expect } from "bun:test";
import { createClient } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, stockOf } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

/** Runs this many clients at the same time. Each client waits for a reply before it sends its next request. */
const together = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

async function ordersOf({ call }: Shop): Promise<OrderReply[]> {
  return (await call<OrderReply[]>("GET /orders/", { query: { sort: "number", limit: 100 } })).data;
}

for (const kind of ["file", "server"] as const) {
  onDatabase(kind, (suite) => {
    const { test } = suite;
    // The number is smaller on a libSQL server, where one transaction runs at a time and takes several round trips.
    const [buyers, attempts] = kind === "file" ? [32, 6] : [16, 6];
    test(`${buyers} buyers with ${attempts} attempts each, some with the item on two lines, buy exactly the stock of 50`, async (shop) => {
      const product = await shop.createProduct({ stock: 50 });
      const codes = new Set<number>();
      let pieces = 0;
      await together(buyers, async (buyer) => {
        for (let attempt = 0; attempt < attempts; attempt++) {
          const lines = 1 + ((buyer + attempt) % 2);
          const items = Array.from({ length: lines }, () => ({ product_id: product.id, quantity: 1 }));
          const { status, code } = await shop.call("POST /orders/", { body: { items } });
          codes.add(code ?? status);
          if (status === 201) pieces += lines;
        }
      });
      expect([...codes].sort()).toEqual([201, 5304]);
      expect(pieces).toBe(50);
      expect(await stockOf(shop, product.id)).toEqual({ stock: 50, reserved: 50 });
      const made = await ordersOf(shop);
      expect(made.flatMap(({ items }) => items).reduce((sum, { quantity }) => sum + quantity, 0)).toBe(50);
      expect(made.map(({ number }) => number)).toEqual(made.map((_, index) => index + 1));
    }, 60_000);

    test("while a price changes, each order has the price at its commit", async (shop) => {
      const product = await shop.createProduct({ price: 1 });
      await together(6, async (index) => {
        if (index > 0) {
          const items = [{ product_id: product.id, quantity: 1 }];
          for (let count = 0; count < 6; count++) await makeOrder(shop, items);
        } else {
          for (let price = 2; price <= 12; price++) {
            await shop.call(`PATCH /products/${product.id}/`, { body: { price } });
          }
        }
      });
      const { data } = await shop.call<{ type: string; data: { total: number; version: number } }[]>("GET /events/", {
        query: { limit: 100, types: "product.updated,order.created" },
      });
      // Each change of the price increases the product's version by one.
      let price = 1;
      for (const event of data) {
        if (event.type === "product.updated") price = event.data.version;
        else expect(event.data.total).toBe(price);
      }
      expect(data.length).toBe(41);
    });

    test("of 20 concurrent refunds of one item each, exactly three succeed, because the order has only three items", async (shop) => {
      const product = await shop.createProduct({ stock: 9, price: 10 });
      const order = await makeOrder(shop, [{ product_id: product.id, quantity: 3 }]);
      await actOn(shop, order, "pay");
      const body = { lines: [{ line_id: order.items[0]?.id, quantity: 1 }], restock: true };
      const replies = await together(20, () => shop.call(`POST /orders/${order.id}/refund/`, { body }));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(replies.filter(({ code }) => code === 5306)).toHaveLength(17);
      expect(await stockOf(shop, product.id)).toEqual({ stock: 9, reserved: 0 });
      const { data } = await shop.call<OrderReply>(`GET /orders/${order.id}/`);
      expect(data).toMatchObject({ refunded_minor: 3000, payment_status: "refunded", status: "cancelled", version: 5 });
      expect(data.refunds).toHaveLength(3);
    });

    test("either a payment or a concurrent cancellation succeeds, late money is booked, and the stock is consistent", async (shop) => {
      const product = await shop.createProduct({ stock: 9 });
      const order = await makeOrder(shop, [{ product_id: product.id, quantity: 4 }]);
      const client = createClient(suite.app, { namespace: shop.namespace, auth: shop.auth });
      const replies = await together(20, (index) =>
        client(`POST /orders/${order.id}/${index % 2 ? "pay" : "cancel"}/`),
      );
      const { data } = await shop.call<OrderReply>(`GET /orders/${order.id}/`);
      const isPaid = data.status === "paid";
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(isPaid ? 1 : 2);
      expect([data.status, data.needs_attention]).toEqual(isPaid ? ["paid", []] : ["cancelled", ["late_payment"]]);
      const stock = isPaid ? 5 : 9;
      expect(await stockOf(shop, product.id)).toEqual({ stock, reserved: 0 });
    });
  });
}
