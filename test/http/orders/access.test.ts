import { expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { actOn, countOrderRows, makeOrder, type OrderReply } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

type Act = "cancel" | "pay" | "fulfill" | "refund";
const acts: readonly Act[] = ["cancel", "pay", "fulfill", "refund"];
const absent = "ord_01h455vb4pex5vsknk084sn02q";

/** Brings an order into the state that an act requires. */
async function prepare(shop: Shop, order: OrderReply, act: Act): Promise<void> {
  if (act === "fulfill" || act === "refund") await actOn(shop, order, "pay");
}

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

  for (const act of acts) {
    test(`${act}: allowed for staff and keys with orders:write only, and another store's order is not found`, async () => {
      const { shop, order, product } = await open();
      const request = `POST /orders/${order.id}/${act}/`;
      await prepare(shop, order, act);
      const elsewhere = await suite.shop();
      const readOnly = bearer(await shop.issueKey({ scopes: ["orders:read", "products:write"] }));
      expect((await shop.callAnonymously(request, { body: {} })).code).toBe(5206);
      expect((await shop.call(request, { body: {}, auth: readOnly })).code).toBe(5300);
      expect((await elsewhere.call(request, { body: {} })).code).toBe(5301);
      expect((await elsewhere.call(request, { body: {}, namespace: shop.namespace })).code).toBe(5203);
      expect((await shop.call(`POST /orders/${absent}/${act}/`, { body: {} })).code).toBe(5301);
      expect((await shop.call(request, { body: { surprise: 1 } })).fields).toEqual(["surprise"]);
      const { data } = await shop.call<OrderReply>(`GET /orders/${order.id}/`);
      expect(data.version).toBe(act === "fulfill" || act === "refund" ? 2 : 1);
      const writer = bearer(await shop.issueKey({ scopes: ["orders:write"] }));
      expect((await shop.call(request, { body: {}, auth: writer })).status).toBe(200);
      const next = await makeOrder(shop, [{ product_id: product }]);
      await prepare(shop, next, act);
      const staff = await openAccount(shop, { role: "staff" });
      expect((await staff.call(`POST /orders/${next.id}/${act}/`, { body: {} })).status).toBe(200);
    });

    test(`${act} honours If-Match, returns the new ETag, and increases the version by one`, async () => {
      const { shop, order } = await open();
      await prepare(shop, order, act);
      const { headers } = await shop.call(`GET /orders/${order.id}/`);
      const tag = headers.get("etag") as string;
      const request = `POST /orders/${order.id}/${act}/`;
      expect((await shop.call(request, { body: {}, headers: { "if-match": '"9"' } })).code).toBe(5303);
      expect((await shop.call(`GET /orders/${order.id}/`)).headers.get("etag")).toBe(tag);
      const done = await shop.call<OrderReply>(request, { body: {}, headers: { "if-match": tag } });
      expect(done.status).toBe(200);
      expect(`"${done.data.version}"`).toBe(done.headers.get("etag") as string);
      expect(done.data.version).toBe(Number(tag.slice(1, -1)) + 1);
      expect((await shop.call<OrderReply>(`GET /orders/${order.id}/`)).data).toEqual(done.data);
    });
  }

  test("reading needs orders:read, ordering orders:write, and both need credentials", async () => {
    const { shop, order, product } = await open();
    const reader = bearer(await shop.issueKey({ scopes: ["orders:read"] }));
    const writer = bearer(await shop.issueKey({ scopes: ["orders:write"] }));
    const body = { items: [{ product_id: product, quantity: 1 }] };
    for (const request of ["GET /orders/", `GET /orders/${order.id}/`]) {
      expect((await shop.call(request, { auth: reader })).status).toBe(200);
      expect((await shop.call(request, { auth: writer })).code).toBe(5300);
      expect((await shop.callAnonymously(request)).code).toBe(5206);
    }
    expect((await shop.call("POST /orders/", { auth: writer, body })).status).toBe(201);
    expect((await shop.call("POST /orders/", { auth: reader, body })).code).toBe(5300);
    expect((await shop.callAnonymously("POST /orders/", { body })).code).toBe(5206);
    const elsewhere = await suite.shop();
    expect((await elsewhere.call(`GET /orders/${order.id}/`)).code).toBe(5301);
    expect((await elsewhere.call<OrderReply[]>("GET /orders/")).data).toEqual([]);
    expect((await elsewhere.call<OrderReply[]>("GET /orders/", { query: { ids: order.id } })).data).toEqual([]);
  });
});
