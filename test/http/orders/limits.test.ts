import { expect, test } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import type { TenantInput } from "../../../src/server/modules/tenants/input.ts";
import { openAccount } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, stockOf, unlimitedOrders } from "../../support/orders.ts";
import { onDatabase, onEachDatabase } from "../../support/suite.ts";

const minute = 60_000;
const origin = "https://shop.example.com";

onEachDatabase((suite) => {
  const { onFile } = suite;
  async function open(limits: TenantInput = {}) {
    const shop = await suite.shop({ tenant: { ...unlimitedOrders, ...limits } });
    const { id } = await shop.createProduct({ stock: 40 });
    const eve = await openAccount(shop);
    const order = (quantity = 1, product_id = id) => ({ body: { items: [{ product_id, quantity }] } });
    return { shop, id, eve, order };
  }

  test("fifty concurrent orders of a customer do not exceed the limit of unpaid orders, and a payment allows another order", async () => {
    const { shop, id, eve, order } = await open({ pendingOrders: 3 });
    const replies = await Promise.all(Array.from({ length: 50 }, () => eve.call<OrderReply>("POST /orders/", order())));
    const made = replies.filter(({ status }) => status === 201).map(({ data }) => data);
    expect(made).toHaveLength(3);
    const refused = replies.filter(({ status }) => status !== 201);
    for (const { status, code, headers } of refused) {
      expect([status, code, headers.get("retry-after")]).toEqual([429, 5107, "3600"]);
    }
    expect(refused[0]?.error?.message).toContain("3 unpaid orders");
    expect(await stockOf(shop, id)).toEqual({ stock: 40, reserved: 3 });
    const next = async () => (await eve.call("POST /orders/", order())).status;
    await actOn(shop, made[0] as OrderReply, "pay");
    expect([await next(), await next()]).toEqual([201, 429]);
    await eve.call(`POST /orders/${made[1]?.id}/cancel/`);
    expect([await next(), await next()]).toEqual([201, 429]);
    suite.app.clock.advance(60 * minute);
    while ((await expireDueOrders(suite.app.system)) > 0);
    expect(await next()).toBe(201);
  });

  onFile("unpaid orders of a customer together reserve at most the customer's share of the stock", async () => {
    const { shop, id, eve, order } = await open({ stockShare: 50 });
    const other = await openAccount(shop);
    const first = await eve.call<OrderReply>("POST /orders/", order(15));
    expect(first.status).toBe(201);
    const items = [3, 3].map((quantity) => ({ product_id: id, quantity }));
    const over = await eve.call("POST /orders/", { body: { items } });
    expect([over.status, over.code, over.fields]).toEqual([409, 5304, ["items.0.quantity"]]);
    expect(over.error?.message).toContain("more than can be ordered now");
    expect(await stockOf(shop, id)).toEqual({ stock: 40, reserved: 15 });
    // The share is of the whole stock, including the items that Eve has reserved.
    expect((await other.call("POST /orders/", order(21))).code).toBe(5304);
    expect((await other.call("POST /orders/", order(20))).status).toBe(201);
    await actOn(shop, first.data, "pay");
    // Ten items are always allowed.
    const { id: few } = await shop.createProduct({ stock: 12 });
    const { code, error } = await eve.call("POST /orders/", order(11, few));
    expect([code, error?.details?.[0]?.message]).toEqual([
      5304,
      "unpaid orders of one customer can reserve at most 10",
    ]);
    expect((await eve.call("POST /orders/", order(10, few))).status).toBe(201);
    const { id: more } = await shop.createProduct({ stock: 20, allow_backorder: true });
    expect((await eve.call("POST /orders/", order(30, more))).status).toBe(201);
  });

  onFile("the limit of a customer's orders a minute also counts orders that are cancelled at once", async () => {
    const { eve, order } = await open({ ordersPerMinute: 2 });
    const attempt = async () => {
      const made = await eve.call<OrderReply>("POST /orders/", order());
      if (made.status === 201) await eve.call(`POST /orders/${made.data.id}/cancel/`);
      return [made.code ?? made.status, made.headers.get("retry-after")];
    };
    expect(await attempt()).toEqual([201, null]);
    suite.app.clock.advance(minute / 2);
    expect(await attempt()).toEqual([201, null]);
    expect(await attempt()).toEqual([5107, "30"]);
    // This refused order must not count.
    expect((await eve.call("POST /orders/", { body: { items: [] } })).code).toBe(5102);
    suite.app.clock.advance(minute / 2);
    expect(await attempt()).toEqual([201, null]);
    expect(await attempt()).toEqual([5107, "30"]);
  });

  onFile("a customer may make six times as many dry runs as orders a minute; refused ones count", async () => {
    const { shop, id, eve, order } = await open({ ordersPerMinute: 2 });
    const attempt = async (quantity: number, dry_run: boolean, headers: Record<string, string> = {}, who = eve) => {
      const query = { user_id: who.id, token: who.token, dry_run: String(dry_run) };
      const tried = await who.call("POST /orders/", { ...order(quantity), query, headers });
      return [tried.code ?? tried.status, tried.headers.get("retry-after")];
    };
    for (let count = 0; count < 5; count++) expect(await attempt(1, true)).toEqual([200, null]);
    suite.app.clock.advance(minute / 2);
    for (let count = 0; count < 7; count++) expect(await attempt(41, true)).toEqual([5304, null]);
    expect(await attempt(1, true)).toEqual([5107, "30"]);
    // The transaction of the refused order is rolled back.
    expect(await attempt(41, false, { "idempotency-key": "one" })).toEqual([5304, null]);
    expect(await attempt(1, false)).toEqual([201, null]);
    expect(await attempt(1, false)).toEqual([5107, "60"]);
    expect(await attempt(1, true, {}, await openAccount(shop))).toEqual([200, null]);
    suite.app.clock.advance(minute / 2);
    expect(await attempt(1, true)).toEqual([200, null]);
    expect(await stockOf(shop, id)).toEqual({ stock: 40, reserved: 1 });
  });

  onFile(
    "an error about stock shows customers only quantities up to ten, and shows the store's key all quantities",
    async () => {
      const { shop, eve, order } = await open({ stockShare: 50 });
      const errors = async (who: Pick<Shop, "call">) => {
        const messages = new Set<string>();
        for (const [stock, quantity] of [
          [0, 1],
          [3, 4],
          [40, 41],
          [40, 21],
        ] as const) {
          const { id } = await shop.createProduct({ stock });
          const { code, error } = await who.call("POST /orders/", order(quantity, id));
          if (code === 5304) messages.add(error?.message as string);
        }
        return [...messages];
      };
      expect(await errors(eve)).toEqual([
        "items.0.quantity: is out of stock",
        "items.0.quantity: only 3 in stock",
        "items.0.quantity: is more than can be ordered now",
      ]);
      expect(await errors(shop)).toEqual([
        "items.0.quantity: is out of stock",
        "items.0.quantity: only 3 in stock",
        "items.0.quantity: only 40 in stock",
      ]);
    },
  );
});

onDatabase("file", (suite) => {
  async function openWeb(shop: Shop) {
    const key = await shop.issueKey({ scopes: ["orders:write"] });
    const restriction = { appId: key.app_id, origins: ["shop.example.com"], allowNoOrigin: true };
    await setOrigins(suite.app.system, restriction);
    const { id: product_id } = await shop.createProduct({ stock: 11 });
    const order = async (send: {
      address?: string;
      headers?: Record<string, string>;
      guest_ip?: string;
      auth?: string;
    }) => {
      const { guest_ip, ...options } = send;
      const body = { items: [{ product_id, quantity: 1 }], guest_ip };
      return (await shop.call("POST /orders/", { auth: bearer(key), ...options, body })).code;
    };
    return { product_id, order };
  }

  test("for orders with a page's key, guests are limited by IP address, and no address is stored", async () => {
    const shop = await suite.shop({ tenant: { pendingOrders: 1 } });
    const { product_id, order } = await openWeb(shop);
    const [first, second] = [newAddress(), newAddress()];
    expect(await order({ address: first, headers: { origin } })).toBeUndefined();
    expect(await order({ address: first, headers: { origin } })).toBe(5107);
    // An address in the body has no effect.
    expect(await order({ address: first, headers: { origin }, guest_ip: "203.0.113.9" })).toBe(5300);
    expect(await order({ address: first, guest_ip: "203.0.113.9" })).toBe(5300);
    // Everyone can read such a key and send it without an origin, but the limit applies all the same.
    expect(await order({ address: first })).toBe(5107);
    expect(await order({ address: second, headers: { origin } })).toBeUndefined();
    expect(await order({ address: second, headers: { origin }, auth: shop.auth })).toBe(5107);
    const ofShop = "orders where tenant_id = (select id from tenants where namespace = ?)";
    const read = async (sql: string) => (await suite.app.db.execute({ sql, args: [shop.namespace] })).rows;
    const rows = await read(`select * from ${ofShop}`);
    expect(rows.length).toBe(2);
    expect(JSON.stringify(rows)).not.toContain(first);
    expect(rows.every(({ buyer }) => /^[\w-]{32}$/.test(String(buyer)))).toBe(true);
    await makeOrder(shop, [{ product_id }]);
    for (const { id } of rows) await actOn(shop, { id: String(id) }, "pay");
    expect(await read(`select id from ${ofShop} and buyer is not null`)).toEqual([]);
  });

  test("orders from a backend are limited for each customer or guest address that the backend sends, not for the whole backend", async () => {
    const shop = await suite.shop({ tenant: { pendingOrders: 1 } });
    const { order, product_id } = await openWeb(shop);
    const { auth, key } = shop;
    for (let i = 0; i < 3; i++) expect(await order({ auth })).toBeUndefined();
    // This key is only for programs.
    await setOrigins(suite.app.system, { appId: key.app_id, origins: [], allowNoOrigin: true });
    for (let i = 0; i < 2; i++) expect(await order({ auth })).toBeUndefined();
    const [guest, network] = ["203.0.113.7", "2001:db8::"];
    expect(await order({ auth, guest_ip: guest })).toBeUndefined();
    expect(await order({ auth, guest_ip: guest })).toBe(5107);
    expect(await order({ auth, guest_ip: `${network}1` })).toBeUndefined();
    expect(await order({ auth, guest_ip: `${network}2` })).toBe(5107);
    expect(await order({ auth, guest_ip: "nobody" })).toBe(5102);
    const eve = await openAccount(shop);
    const body = { items: [{ product_id, quantity: 1 }] };
    const forEve = { body: { ...body, customer_id: eve.id } };
    expect((await shop.call("POST /orders/", forEve)).status).toBe(201);
    expect((await shop.call("POST /orders/", forEve)).code).toBe(5107);
    expect((await eve.call("POST /orders/", { body })).code).toBe(5107);
    expect((await eve.call("POST /orders/", { body: { ...body, guest_ip: guest } })).code).toBe(5300);
    // Orders that staff place for a customer have no limits.
    const staff = await openAccount(shop, { role: "staff" });
    expect((await staff.call("POST /orders/", forEve)).status).toBe(201);
    const dry = await eve.call("POST /orders/", {
      body,
      query: { user_id: eve.id, token: eve.token, dry_run: "true" },
    });
    expect(dry.code).toBe(5107);
  });
});
