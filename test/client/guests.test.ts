import { afterAll, beforeAll, expect, test } from "bun:test";
import { keyPurposes } from "../../src/server/security/scopes.ts";
import type { Shop } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";
import { loadBuiltClient } from "./built-client.ts";
import { connect, failureOf } from "./connect.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

onDatabase("file", (suite) => {
  let built: Awaited<ReturnType<typeof loadBuiltClient>>;
  let shop: Shop;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    built = await loadBuiltClient();
    shop = await suite.shop();
    proxy = await startFaultyProxy(suite.app.url);
  });
  afterAll(() => proxy.close());

  async function openPage() {
    const key = await shop.issueKey({ scopes: [...keyPurposes.storefront] });
    return connect(built, { ...shop, key }, { url: proxy.url });
  }

  test("a page's guest chooses a rate, orders once though the reply was lost, and opens and cancels the order with its token only", async () => {
    const { id } = await shop.createProduct({ price: 10, stock: 5 });
    const [rate] = await connect(built, shop, { url: proxy.url }).shipping.replaceRates({
      rates: [{ zone: "Germany", countries: ["DE"], name: "Parcel", price: 4.9 }],
    });
    const page = await openPage();
    const body = {
      items: [{ product_id: id, quantity: 1 }],
      email: "grace@example.com",
      shipping_address: { line1: "Quay 1", city: "Hamburg", country: "DE" },
    };
    expect(await page.shipping.rates({ country: "DE", value: 10 })).toMatchObject([{ id: rate?.id, price: 4.9 }]);
    const preview = await page.orders.place(body, { query: { dry_run: true } });
    expect(preview.shipping_rates).toMatchObject([{ id: rate?.id }]);
    proxy.faults.push("lose");
    const choice = { shipping_rate: rate?.id ?? "", expected_total: 14.9 };
    const placed = await page.orders.place({ ...body, ...choice });
    const orderToken = placed.access_token;
    expect((await page.orders.get(placed.id, {}, { orderToken })).number).toBe(placed.number);
    expect((await page.products.get(id)).available).toBe(4);
    for (const options of [{}, { orderToken: "no" }]) {
      expect((await failureOf(built, page.orders.get(placed.id, {}, options))).code).toBe(5301);
    }
    expect((await page.orders.cancel(placed.id, undefined, { orderToken })).status).toBe("cancelled");
  });

  test("a customer who is signed in can open a guest's order by its token, ask for a link, and withdraw", async () => {
    const { id } = await shop.createProduct({ requires_shipping: false });
    const page = await openPage();
    const email = "ada@example.com";
    const { access_token: orderToken, ...placed } = await page.orders.place({
      items: [{ product_id: id, quantity: 1 }],
      email,
    });
    const password = "Vermilion-Kettle-4871";
    await shop.call("POST /users/", { body: { email: "own@example.com", password, email_verified: true } });
    await page.auth.login({ email: "own@example.com", password });
    expect((await failureOf(built, page.orders.get(placed.id))).code).toBe(5301);
    expect((await page.orders.get(placed.id, {}, { orderToken })).id).toBe(placed.id);
    const named = { number: placed.number ?? 0, email };
    expect(await page.orders.mailLink(named)).toEqual({ accepted: true });
    expect(await page.orders.withdraw({ ...named, name: "Ada" })).toEqual({ accepted: true });
  });
});
