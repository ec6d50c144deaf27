import { expect } from "bun:test";
import { routes } from "../../../src/server/api/routes.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type CallOptions, createClient } from "../../support/client.ts";
import { bearer, type ProductReply, type Shop } from "../../support/factories.ts";
import { lastingPart, walkFrom } from "../../support/kept-replies.ts";
import { ofProduct } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";

/** A reply without what may differ. Both servers have the same release, so also the tags are equal. */
function shown(reply: Parameters<typeof lastingPart>[0]) {
  return { ...lastingPart(reply), tag: reply.headers.get("etag") };
}

onEachDatabase((suite) => {
  const { test } = suite;

  test("a walk of writes and reads gets the same replies with and without the cache, through two processes", async (shop) => {
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
    for (let step = 0; step < 150; step++) {
      if (below(3) === 0) await pick(writes)(at(pick([suite.app, second])));
      const [request, query] = below(3) === 0 ? [`GET /products/${id()}/`, {}] : pick(reads);
      const auth = pick([shop.auth, bearer(page)]);
      const options: CallOptions = { query, headers: { "accept-encoding": pick(["identity", "gzip", "zstd"]) } };
      const app = pick([suite.app, second]);
      // Twice, because a reply is kept when it is asked for the second time.
      for (let round = 0; round < 2; round++) {
        const told = shown(await at(app, auth)(request, options));
        const right = shown(await at(plain, auth)(request, options));
        expect({ seed, step, request, query, ...told }).toEqual({ seed, step, request, query, ...right });
      }
    }
    await Promise.all([second.stop(), plain.stop()]);
  }, 60_000);

  test("a kept reply depends on nothing of the caller but what they may see", async (shop) => {
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
});
