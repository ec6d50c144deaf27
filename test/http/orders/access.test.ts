import { expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { actOn, countOrderRows, makeOrder, type OrderReply } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

const absent = "ord_01h455vb4pex5vsknk084sn02q";

onDatabase("file", (suite) => {
  async function open(): Promise<{ shop: Shop; product: string; eve: Account; order: OrderReply }> {
    const shop = await suite.shop();
    const { id: product } = await shop.createProduct({ stock: 20 });
    const eve = await openAccount(shop);
    const order = await makeOrder(shop, [{ product_id: product }], { customer_id: eve.id });
    return { shop, product, eve, order };
  }

  test("customers see, list and cancel their own orders; those of others are not found", async () => {
    const { shop, product, eve, order } = await open();
    const other = await openAccount(shop);
    const guest = await makeOrder(shop, [{ product_id: product }]);
    expect((await eve.call<OrderReply>(`GET /orders/${order.id}/`)).data).toEqual(order);
    expect((await eve.call<OrderReply[]>("GET /orders/")).data).toEqual([order]);
    expect((await other.call<OrderReply[]>("GET /orders/")).data).toEqual([]);
    const token = { user_id: other.id, token: other.token };
    for (const query of [{ customer_id: eve.id }, { customer_id: "" }]) {
      expect((await other.call("GET /orders/", { query: { ...token, ...query } })).code).toBe(5301);
    }
    const before = await countOrderRows(shop);
    for (const id of [order.id, guest.id, absent, "ord_x", "%00"]) {
      expect((await other.call(`GET /orders/${id}/`)).code).toBe(5301);
      expect((await other.call(`POST /orders/${id}/cancel/`)).code).toBe(5301);
    }
    expect(await countOrderRows(shop)).toEqual(before);
    expect((await eve.call<OrderReply>(`POST /orders/${order.id}/cancel/`)).data.status).toBe("cancelled");
  });

  test("customers cannot mark an order as paid or fulfilled, or refund it", async () => {
    const { shop, eve, order } = await open();
    const other = await openAccount(shop);
    const before = await countOrderRows(shop);
    for (const who of [eve, other]) {
      for (const act of ["pay", "fulfill", "refund"]) {
        for (const id of [order.id, absent]) {
          expect((await who.call(`POST /orders/${id}/${act}/`, { body: {} })).code).toBe(5300);
        }
      }
    }
    await actOn(shop, order, "pay");
    expect((await eve.call(`POST /orders/${order.id}/cancel/`)).code).toBe(5306);
    expect((await countOrderRows(shop))[0]).toBe(before[0] as number);
  });
});
