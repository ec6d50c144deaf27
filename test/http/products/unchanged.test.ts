import { expect } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type Call, type CallOptions, createClient } from "../../support/client.ts";
import { bearer, type ProductReply, type Shop } from "../../support/factories.ts";
import { ofProduct } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { viewProduct } from "../../support/views.ts";

type Change = (shop: Shop, product: ProductReply) => Promise<unknown>;

const order: Change = (shop, { id, variants: [variant] }) =>
  shop.call("POST /orders/", {
    body: { items: [{ ...(variant ? { variant_id: variant.id } : { product_id: id }), quantity: 1 }] },
  });

const sizes = { stock: undefined, variants: ["S", "M"].map((size) => ({ options: { size }, stock: 3 })) };

/** Reads with an ETag. Returns the status and the ETag of the reply. */
async function read(call: Call, request: string, tag: string, options: CallOptions = {}) {
  const reply = await call(request, { ...options, headers: { ...options.headers, "if-none-match": tag } });
  return { status: reply.status, tag: reply.headers.get("etag") as string };
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const requests = async (shop: Shop, fields = {}) => {
    const product = await shop.createProduct({ stock: 5, ...fields });
    return { product, list: "GET /products/", one: `GET /products/${product.id}/` };
  };

  test("a read of unchanged data gets 304 without a body, and browsers must check before they use a cached reply", async (shop) => {
    const { list, one, product } = await requests(shop);
    const bySlug = `GET /products/${product.slug}/`;
    for (const [request, query] of [
      [list, {}],
      [list, { q: "lamp", fields: "title" }],
      [one, {}],
      [bySlug, {}],
    ] as const) {
      const first = await shop.call(request, { query });
      const tag = first.headers.get("etag") as string;
      expect(tag).toMatch(/^W\/"[01]\.[a-z0-9]{13}"$/);
      expect(first.headers.get("cache-control")).toBe("private, no-cache");
      for (const method of ["GET", "HEAD"]) {
        for (const sent of [tag, tag.slice(2), `"x", ${tag}`, "*"]) {
          const again = await shop.call(request.replace("GET", method), { query, headers: { "if-none-match": sent } });
          const { status, text, headers } = again;
          expect([status, text, headers.get("etag")]).toEqual([304, "", tag]);
          expect(headers.get("cache-control")).toBe("private, no-cache");
        }
      }
      for (const other of ['"1"', 'W/"x"', "x", ""])
        expect((await read(shop.call, request, other, { query })).status).toBe(200);
    }
  });

  const changes: [name: string, Change, fields?: object][] = [
    ["a change", ({ call }, { id }) => call(`PATCH /products/${id}/`, { body: { price: 3 } })],
    ["an order that reserves stock", order],
    ["an order of a variant", order, sizes],
    [
      "a change of a variant",
      ({ call }, { id, variants: [variant] }) =>
        call(`PATCH /products/${id}/variants/${variant?.id}/`, { body: { title: "XS" } }),
      sizes,
    ],
    ["deletion", ({ call }, { id }) => call(`DELETE /products/${id}/`)],
  ];
  onFile("after each change of a product, reads of the product and of lists get new replies", async (shop) => {
    for (const [name, change, fields] of changes) {
      const { list, one, product } = await requests(shop, fields);
      const tags = [await read(shop.call, list, ""), await read(shop.call, one, "")];
      await change(shop, product);
      const statuses = [await read(shop.call, list, tags[0]?.tag as string)];
      statuses.push(await read(shop.call, one, tags[1]?.tag as string));
      const expected = [200, name === "deletion" ? 404 : 200];
      expect([name, statuses.map(({ status }) => status)]).toEqual([name, expected]);
    }
  });

  onFile("orders and cancellations change the product even if the sum of its stock is the same", async (shop) => {
    const { one, product } = await requests(shop, sizes);
    const [small, medium] = product.variants;
    const buy = (id?: string) =>
      shop.call<{ id: string }>("POST /orders/", { body: { items: [{ variant_id: id, quantity: 1 }] } });
    const { data } = await buy(small?.id);
    const { tag } = await read(shop.call, one, "");
    await shop.call(`POST /orders/${data.id}/cancel/`);
    await buy(medium?.id);
    expect((await read(shop.call, one, tag)).status).toBe(200);
  });

  test("an ETag is valid in all processes, and in none after any process has acknowledged a write", async (shop) => {
    const { list, one, product } = await requests(shop);
    const second = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    const there = createClient(second, { namespace: shop.namespace, auth: shop.auth });
    for (let round = 0; round < 6; round++) {
      const [here, far] = round % 2 === 0 ? [shop.call, there] : [there, shop.call];
      for (const request of [list, one]) {
        const { tag } = await read(here, request, "");
        expect((await read(far, request, tag)).status).toBe(304);
        const writes = [0, 1, 2].map((n) =>
          far(`PATCH /products/${product.id}/`, { body: { price: 10 * round + n + (request === list ? 1 : 5) } }),
        );
        // These reads run during the writes. The ETag of a reply must not be newer than its content.
        const seen = await Promise.all(writes.map(() => here<ProductReply | ProductReply[]>(request)));
        await Promise.all(writes);
        const now = await here<ProductReply | ProductReply[]>(request);
        for (const { data, headers } of seen) {
          const { status } = await read(here, request, headers.get("etag") as string);
          if (status === 304) expect(data).toEqual(now.data);
        }
        expect((await read(here, request, tag)).status).toBe(200);
      }
    }
    await second.stop();
  });

  onFile("a like changes a product at once; views, and counts in lists, change within a minute", async (shop) => {
    const { list, one, product } = await requests(shop);
    const tags = { list: (await read(shop.call, list, "")).tag, one: (await read(shop.call, one, "")).tag };
    await viewProduct(shop.callAnonymously, product.id);
    await suite.app.memory.views.flush();
    expect((await read(shop.call, one, tags.one)).status).toBe(304);
    await shop.callAnonymously("POST /likes/", { body: ofProduct(product.id) });
    expect((await read(shop.call, one, tags.one)).status).toBe(200);
    expect((await read(shop.call, list, tags.list)).status).toBe(304);
    suite.app.clock.advance(60_000);
    expect((await read(shop.call, list, tags.list)).status).toBe(200);
  });

  onFile("an ETag is valid only for the same query and store, and the same visible content", async (shop) => {
    const other = await suite.shop();
    const { list, one, product } = await requests(shop);
    const page = await shop.issueKey({ scopes: ["products:read"] });
    await setOrigins(suite.app.system, { appId: page.app_id, origins: ["shop.example.com"], allowNoOrigin: true });
    const reader = await shop.issueKey({ scopes: ["products:read"] });
    const [ann, bob] = [await openAccount(shop), await openAccount(shop)];
    const by = ({ id, token }: typeof ann) => ({ auth: null, query: { user_id: id, token } });
    const ways: CallOptions[] = [
      {},
      { auth: bearer(page) },
      { auth: bearer(reader) },
      { auth: bearer(reader), headers: { origin: "https://shop.example.com" } },
      by(ann),
      by(bob),
      { query: { lang: "de" } },
    ];
    for (const request of [list, one]) {
      const tags: string[] = [];
      for (const way of ways) {
        const { tag } = await read(shop.call, request, "", way);
        expect((await read(shop.call, request, tag, way)).status).toBe(304);
        tags.push(tag);
      }
      // There are three ETags: for staff and backends, for the public, and for another language.
      expect(new Set(tags).size).toBe(3);
      expect((await read(other.call, list, tags.join())).status).toBe(200);
    }
    await shop.call(`PATCH /products/${product.id}/`, { body: { status: "draft" } });
    const hidden = await shop.call(one, { auth: bearer(page), headers: { "if-none-match": "*" } });
    expect([hidden.code, hidden.headers.get("cache-control")]).toEqual([5301, "no-store"]);
  });

  onFile("the ETag of a read works in If-Match until the product's version changes", async (shop) => {
    const { one } = await requests(shop);
    const { tag } = await read(shop.call, one, "");
    const write = () => shop.call(one.replace("GET", "PATCH"), { body: { price: 4 }, headers: { "if-match": tag } });
    const [first, second] = [await write(), await write()];
    expect([first.status, first.headers.get("etag"), second.code]).toEqual([200, '"2"', 5303]);
  });

  onFile("browsers may not cache errors, and replies about users and orders", async (shop) => {
    const account = await openAccount(shop);
    const sent = { headers: { "if-none-match": "*" } };
    const replies = [
      await shop.call("GET /products/prod_0/", sent),
      await shop.call("GET /products/", { ...sent, auth: null }),
      await shop.call("GET /users/", sent),
      await shop.call("GET /orders/", sent),
      await account.call("GET /users/me/"),
      await shop.callAnonymously("GET /likes/", sent),
    ];
    const kept = replies.map(({ status, headers }) => [status, headers.get("cache-control")]);
    expect(kept).toEqual([404, 401, 200, 200, 200, 200].map((status) => [status, "no-store"]));
  });
});
