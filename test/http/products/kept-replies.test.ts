import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import { routes } from "../../../src/server/api/routes.ts";
import { defineRoute, publicAccess, reply } from "../../../src/server/http/route.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type CallOptions, createClient } from "../../support/client.ts";
import { bearer, type ProductReply, type Shop } from "../../support/factories.ts";
import { lastingPart, walkFrom } from "../../support/kept-replies.ts";
import { ofProduct } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";

/** For longer walks, for example after a change of the cache, set `BODEGA_TEST_STEPS`. */
const steps = Number(process.env.BODEGA_TEST_STEPS ?? 40);

/** Returns the parts of a reply that must be equal, including tags, because both servers have the same release. */
function shown(reply: Parameters<typeof lastingPart>[0]) {
  return { ...lastingPart(reply), tag: reply.headers.get("etag") };
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;

  test("random writes and reads through two processes get the same replies with and without the cache", async (shop) => {
    const { seed, below, pick } = walkFrom();
    const { clock } = suite.app;
    const again = { db: await suite.database.openAgain(), clock };
    const [second, plain] = [startTestApp(again), startTestApp({ ...again, replyCacheBytes: 0 })];
    const page = await shop.issueKey({ scopes: ["catalog:read"] });
    const at = (app: Parameters<typeof createClient>[0], auth = shop.auth) =>
      createClient(app, { namespace: shop.namespace, auth });
    const products: ProductReply[] = [];
    for (let n = 0; n < 4; n++)
      products.push(await shop.createProduct({ title: `Lamp ${n}`, stock: 50, price: 10 + n }));
    const id = () => pick(products).id;
    const writes: ((call: Shop["call"]) => Promise<unknown>)[] = [
      (call) => call(`PATCH /products/${id()}/`, { body: { price: 1 + below(5) } }),
      (call) => call(`PATCH /products/${id()}/`, { body: { status: pick(["published", "draft"]) } }),
      (call) => call(`PATCH /products/${id()}/`, { body: { title: `Lampe ${below(3)}` }, query: { lang: "de" } }),
      (call) => call("POST /orders/", { body: { items: [{ product_id: id(), quantity: 1 + below(3) }] } }),
      (call) => call("POST /likes/", { body: ofProduct(id()) }),
      async () => clock.advance(pick([1000, 61_000])),
    ];
    const reads: [string, NonNullable<CallOptions["query"]>][] = [
      ["GET /products/", {}],
      ["GET /products/", { limit: "2", include_total: "true" }],
      ["GET /products/", { q: "lamp", facets: "tags" }],
      ["GET /products/", { sort: "price", lang: "de" }],
      ["GET /products/", { sort: "popular" }],
      ["GET /products/", { min_price: "3", fields: "id,title,price,available" }],
      ["GET /store/", {}],
    ];
    for (let step = 0; step < steps; step++) {
      if (below(3) === 0) await pick(writes)(at(pick([suite.app, second])));
      const [request, query] = below(3) === 0 ? [`GET /products/${id()}/`, {}] : pick(reads);
      const auth = pick([shop.auth, bearer(page)]);
      const options: CallOptions = { query, headers: { "accept-encoding": pick(["identity", "gzip", "zstd"]) } };
      const app = pick([suite.app, second]);
      // Reads twice, because a reply is cached only at its second request.
      for (let round = 0; round < 2; round++) {
        const told = shown(await at(app, auth)(request, options));
        const right = shown(await at(plain, auth)(request, options));
        expect({ seed, step, request, query, ...told }).toEqual({ seed, step, request, query, ...right });
      }
    }
    await Promise.all([second.stop(), plain.stop()]);
  }, 60_000);

  onFile("callers get the same cached reply if they may see the same fields", async (shop) => {
    const product = await shop.createProduct({ stock: 5 });
    const [ann, bob] = [await openAccount(shop), await openAccount(shop)];
    const page = await shop.issueKey({ scopes: ["catalog:read"] });
    await shop.callAnonymously("POST /likes/", { body: ofProduct(product.id) });
    const by = ({ id, token }: typeof ann) => ({ auth: null, query: { user_id: id, token } });
    const plain = startTestApp({ db: suite.app.db, clock: suite.app.clock, replyCacheBytes: 0 });
    const call = createClient(plain, { namespace: shop.namespace, auth: shop.auth });
    const keeping = routes.filter(({ mayKeep }) => mayKeep !== undefined);
    expect(keeping.map(({ method }) => method)).toEqual(keeping.map(() => "GET"));
    for (const { path } of keeping) {
      const replies: ReturnType<typeof shown>[] = [];
      for (const who of [by(ann), by(bob), { auth: bearer(page) }] as CallOptions[]) {
        replies.push(shown(await call(`GET ${path.replace(":id", product.id)}`, who)));
      }
      expect(replies).toEqual(replies.map(() => replies[0] as (typeof replies)[number]));
    }
    await plain.stop();
  });

  test("counts in a cached reply are at most a minute old, even if no other commit follows", async (shop) => {
    const { clock } = suite.app;
    const product = await shop.createProduct({});
    const read = async () => (await shop.call<ProductReply[]>("GET /products/")).data[0]?.likes_count;
    clock.advance(60_000 - (clock.now() % 60_000));
    expect([await read(), await read(), await read()]).toEqual([0, 0, 0]);
    await shop.callAnonymously("POST /likes/", { body: ofProduct(product.id) });
    clock.advance(60_000);
    expect(await read()).toBe(1);
    await shop.callAnonymously("POST /likes/", { body: ofProduct(product.id) });
    await read();
    clock.advance(60_000);
    expect(await read()).toBe(2);
  });

  onFile("whether a small reply is compressed does not depend on the cache", async (shop) => {
    const seen = new Set<string | null>();
    // The lengths of these replies are around the minimum length for compression.
    for (let length = 300; length < 500; length += 10) {
      const { id } = await shop.createProduct({ description: "x".repeat(length) });
      const codings: (string | null)[] = [];
      for (let round = 0; round < 3; round++) {
        const { headers } = await shop.call(`GET /products/${id}/`, { headers: { "accept-encoding": "gzip" } });
        codings.push(headers.get("content-encoding"));
      }
      expect([length, ...codings]).toEqual([length, ...codings.map(() => codings[0] as string | null)]);
      seen.add(codings[0] ?? null);
    }
    expect([...seen].sort()).toEqual(["gzip", null]);
  });

  onFile("a reply is not cached if its state changes during the read", async (shop) => {
    let state = 0;
    const changing = defineRoute("GET", "/changing/", "readChanging", {
      ...{ tag: "Trial", summary: "Changes", access: [publicAccess], reply: { data: Type.Number() } },
      mayKeep: () => true,
      readEtagSource: async () => ({ state: String(state) }),
      // The state changes during each read.
      handle: async () => reply(state, { state: String(state++) }),
    });
    const trial = startTestApp({ db: suite.database.db, clock: suite.app.clock, routes: [changing] });
    const call = createClient(trial, { namespace: shop.namespace });
    const read = async () => (await call<number>("GET /changing/")).data;
    expect([await read(), await read(), await read()]).toEqual([0, 1, 2]);
    await trial.stop();
  });

  onFile("replies of another release, or with another public URL, have other ETags", async (shop) => {
    const product = await shop.createProduct({});
    const tags = new Set<string | null>();
    for (const deps of [{}, { version: "9.9.9" }, { publicUrl: "https://shop.example" }]) {
      const other = startTestApp({ db: suite.database.db, clock: suite.app.clock, ...deps });
      const call = createClient(other, { namespace: shop.namespace, auth: shop.auth });
      tags.add((await call(`GET /products/${product.id}/`)).headers.get("etag"));
      await other.stop();
    }
    expect(tags.size).toBe(3);
  });
});
