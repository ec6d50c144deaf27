import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Client, ClientOptions } from "../../src/client/client.ts";
import { keyPurposes } from "../../src/server/security/scopes.ts";
import type { Shop } from "../support/factories.ts";
import { makePng } from "../support/pictures.ts";
import { onDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";
import { loadBuiltClient } from "./built-client.ts";
import { connect, failureOf } from "./connect.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

const unavailable = {
  status: 503,
  headers: { "Retry-After": "0" },
  body: JSON.stringify({ request_id: "req_1", error: { code: 5001, message: "Temporarily unavailable." } }),
};

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
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults.length = 0;
  });

  const open = (options: Partial<ClientOptions> = {}) => connect(built, shop, { url: proxy.url, ...options });
  const failure = (call: Promise<unknown>) => failureOf(built, call);

  test("a list can be read over all pages, or one page at a time", async () => {
    const own = await suite.shop();
    const titles = Array.from({ length: 5 }, (_, index) => `Page ${index}`);
    for (const title of titles) await own.createProduct({ title, tags: ["paged"] });
    const { products } = connect(built, own, { url: proxy.url });
    const list = products.list({ tag: ["paged"], limit: 2, sort: "created_at", facets: "tags" });
    const found: string[] = [];
    for await (const { title } of list) found.push(title);
    expect(found).toEqual(titles);
    expect(proxy.passed.length).toBe(3);
    const first = await list.page();
    expect([first.data.length, first.page.has_more, first.page.facets?.tags?.values]).toEqual([
      2,
      true,
      [{ value: "paged", count: 5 }],
    ]);
    const second = await list.page(first.page.next_cursor);
    expect(second.data.map(({ title }) => title)).toEqual(["Page 2", "Page 3"]);
  });

  test("after failures of connection and server, an order is placed only once, because all tries have the same key", async () => {
    const { id } = await shop.createProduct({ stock: 5 });
    const client = open();
    proxy.faults.push("lose", unavailable);
    const order = await client.orders.place({ items: [{ product_id: id, quantity: 1 }] });
    expect(order.status).toBe("pending");
    const keys = proxy.passed.map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect((await client.products.get(id)).available).toBe(4);
    await client.orders.place({ items: [{ product_id: id, quantity: 1 }] });
    expect(keys).not.toContain(proxy.passed.at(-1)?.headers["idempotency-key"]);
  });

  test("after an incomplete reply, an order is sent again with its idempotency key, and a sign-in is not sent again", async () => {
    const { id } = await shop.createProduct({ stock: 5 });
    const client = open();
    const withoutLength = { status: 200, headers: { "Content-Type": "application/json" }, body: '{"request_id":"r' };
    proxy.faults.push("break", withoutLength);
    expect((await client.orders.place({ items: [{ product_id: id, quantity: 1 }] })).status).toBe("pending");
    const keys = proxy.passed.map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect((await client.products.get(id)).available).toBe(4);
    proxy.passed.length = 0;
    proxy.faults.push("break");
    const { code, message } = await failure(client.auth.login({ email: "a@example.com", password: "x" }));
    expect([code, message, proxy.passed.length]).toEqual(["network", "The reply broke off before its end.", 1]);
  });

  test("after a lost connection, a read is repeated up to `retries` times, and a sign-in is not repeated", async () => {
    const client = open({ retries: 1 });
    proxy.faults.push("cut", "cut", "cut");
    const login = await failure(client.auth.login({ email: "a@example.com", password: "x" }));
    expect([login.code, proxy.passed.length]).toEqual(["network", 1]);
    expect([(await failure(client.products.list().page())).code, proxy.passed.length]).toEqual(["network", 3]);
    expect((await client.products.list().page()).data).toBeArray();
  });

  test("a change with a version is not repeated, because a repetition would fail", async () => {
    const { id, version } = await shop.createProduct();
    const client = open();
    proxy.faults.push("lose");
    const { code } = await failure(client.products.update(id, { title: "New" }, { ifVersion: version }));
    expect([code, proxy.passed.length]).toEqual(["network", 1]);
    expect((await failure(client.products.update(id, { title: "Newer" }, { ifVersion: version }))).code).toBe(5303);
  });

  test("after a long `Retry-After`, the call fails instead of waiting", async () => {
    proxy.faults.push({ ...unavailable, headers: { "Retry-After": "60" } });
    const error = await failure(open().products.list().page());
    expect([error.code, error.retryAfter, error.requestId, proxy.passed.length]).toEqual([5001, 60, "req_1", 1]);
  });

  test("the error page of a proxy becomes a network error with the page's status", async () => {
    proxy.faults.push({ status: 502, body: "<h1>Bad gateway</h1>" });
    const error = await failure(open({ retries: 0 }).products.list().page());
    expect([error.code, error.status]).toEqual(["network", 502]);
  });

  test("a signal ends a call that waits for its next try, with the signal's reason", async () => {
    proxy.faults.push({ ...unavailable, headers: { "Retry-After": "20" } });
    const controller = new AbortController();
    const call = open().products.list({}, { signal: controller.signal }).page();
    await until("the request", () => proxy.passed.length === 1);
    controller.abort("closed");
    expect(await call.catch((reason: unknown) => reason)).toBe("closed");
    expect(proxy.passed.length).toBe(1);
  });

  test("a server that does not answer in time causes a network error", async () => {
    let release = () => {};
    proxy.hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { code } = await failure(open({ timeoutMs: 50, retries: 0 }).products.list().page());
    expect([code, proxy.passed.length]).toEqual(["network", 1]);
    release();
    proxy.hold = Promise.resolve();
  });

  test("if a page gets no reply, the error says that its origin may be refused, and how to check this", async () => {
    const fail = () => failure(open({ retries: 0, url: "http://127.0.0.1:1" }).products.list().page());
    expect((await fail()).message).toBe("The server cannot be reached.");
    Object.assign(globalThis, { document: {} });
    try {
      const { code, message, remedy } = await fail();
      expect([code, message]).toEqual(["network", expect.stringContaining("does not allow this page's origin")]);
      expect(remedy).toEndWith("bodega origin check");
    } finally {
      Reflect.deleteProperty(globalThis, "document");
    }
  });

  test("a missing address, or an address without a scheme, is refused, and the error names the option", () => {
    for (const url of ["127.0.0.1:8080", "localhost:8080", "", undefined as unknown as string])
      expect(() => built.createClient({ url, namespace: "demo" })).toThrow(/^url must begin with http/);
    expect(() => (built.createClient as unknown as () => void)()).toThrow(/^url must begin with http/);
    const namespace = undefined as unknown as string;
    expect(() => built.createClient({ url: "http://127.0.0.1:8080", namespace })).toThrow(/^namespace is missing/);
  });

  test("an error of the client has the API's code, and the name of the field that caused it", async () => {
    const { id } = await shop.createProduct({ stock: 1 });
    const error = await failure(open().orders.place({ items: [{ product_id: id, quantity: 2 }] }));
    expect([error.name, error.code, error.status]).toEqual(["BodegaError", 5304, 409]);
    if (error.code === 5304) expect(error.details[0].field).toBe("items.0.quantity");
  });

  test("the client sends the key in the header; in a page, reads send the key in the query and so need no preflight", async () => {
    const body = { resource_type: "product", resource_id: (await shop.createProduct()).id };
    const sent = async (client: Client) => {
      proxy.passed.length = 0;
      await client.products.list().page();
      await client.likes.add(body);
      return proxy.passed.map(({ headers, query }) => [headers.authorization, query.get("app_secret")]);
    };
    expect(await sent(open())).toEqual([
      [shop.auth, null],
      [shop.auth, null],
    ]);
    Object.assign(globalThis, { document: {} });
    try {
      expect(await sent(open())).toEqual([
        [undefined, shop.key.app_secret],
        [shop.auth, null],
      ]);
    } finally {
      Reflect.deleteProperty(globalThis, "document");
    }
  });

  test("an id with a slash is one part of the path", async () => {
    const { products } = open();
    expect((await failure(products.get("a/../b?c"))).code).toBe(5301);
    for (const id of ["", ".", ".."]) await expect(products.get(id)).rejects.toThrow(TypeError);
    expect(proxy.passed.length).toBe(1);
  });

  test("the query contains options of variants, flags and several values in the form that the server reads", async () => {
    await shop.createProduct({ title: "Shirt", tags: ["x", "y"], variants: [{ options: { size: "M" } }] });
    const { data } = await open()
      .products.list({ option: { size: "M" }, tag: ["x", "y"], on_sale: false })
      .page();
    expect(data.map(({ title }) => title)).toEqual(["Shirt"]);
  });

  test("the client uploads a picture unchanged, and returns its address for each width", async () => {
    const client = open();
    const file = new Blob([await makePng(4, 4)], { type: "image/png" });
    const { url } = await client.media.upload(file);
    const reply = await fetch(client.imageUrl({ url }, 320));
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect(client.imageUrl(url, 320)).toBe(client.imageUrl({ url }, 320));
    expect(client.imageUrl(`https://shop.example${url}`, 320)).toBe(
      `https://shop.example${url.replace("original", "320")}`,
    );
    expect(client.imageUrl({ url: "https://cdn.example/original.webp" }, 320)).toBe(
      "https://cdn.example/original.webp",
    );
  });

  /** Opens a store, and a client with a storefront key. */
  async function openPage() {
    const own = await suite.shop();
    const key = await own.issueKey({ scopes: [...keyPurposes.storefront] });
    return { own, page: connect(built, { ...own, key }, { url: proxy.url }) };
  }

  test("a guest in a page chooses a shipping rate, orders once although the reply was lost, and needs the token to open and cancel the order", async () => {
    const { own, page } = await openPage();
    const { id } = await own.createProduct({ price: 10, stock: 5 });
    const [rate] = await connect(built, own, { url: proxy.url }).shipping.replaceRates({
      rates: [{ zone: "Germany", countries: ["DE"], name: "Parcel", price: 4.9 }],
    });
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
      expect((await failure(page.orders.get(placed.id, {}, options))).code).toBe(5301);
    }
    expect((await page.orders.cancel(placed.id, undefined, { orderToken })).status).toBe("cancelled");
  });

  test("a signed-in customer can open a guest's order with its token, request a link, and withdraw", async () => {
    const { own, page } = await openPage();
    const { id } = await own.createProduct({ requires_shipping: false });
    const email = "ada@example.com";
    const { access_token: orderToken, ...placed } = await page.orders.place({
      items: [{ product_id: id, quantity: 1 }],
      email,
    });
    const password = "Vermilion-Kettle-4871";
    await own.call("POST /users/", { body: { email: "own@example.com", password, email_verified: true } });
    await page.auth.login({ email: "own@example.com", password });
    expect((await failure(page.orders.get(placed.id))).code).toBe(5301);
    expect((await page.orders.get(placed.id, {}, { orderToken })).id).toBe(placed.id);
    const named = { number: placed.number ?? 0, email };
    expect(await page.orders.mailLink(named)).toEqual({ accepted: true });
    expect(await page.orders.withdraw({ ...named, name: "Ada" })).toEqual({ accepted: true });
  });
});
