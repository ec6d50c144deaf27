import { beforeAll, expect, test } from "bun:test";
import { takesKey } from "../../../src/server/api/answers.ts";
import { routes } from "../../../src/server/api/routes.ts";
import type { Database, Session } from "../../../src/server/db/session.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type ApiReply, type CallOptions, createClient } from "../../support/client.ts";
import { bearer, createShop, type ProductReply, type Shop } from "../../support/factories.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase, onEachDatabase } from "../../support/suite.ts";
import { readUsers } from "../../support/users.ts";

const lamp = { title: "Lamp", price: 19, metadata: { a: 1, b: [1, 2], c: { d: 1, e: 2 } } };
let keys = 0;

function newKey(): string {
  keys += 1;
  return `key-${keys}`;
}

function withKey(key: string, options: CallOptions = {}): CallOptions {
  return { body: lamp, ...options, headers: { "idempotency-key": key, ...options.headers } };
}

const isReplay = ({ headers }: ApiReply<unknown>) => headers.get("idempotency-replayed") === "true";

async function countProducts({ call }: Shop): Promise<number> {
  return (await call<unknown[]>("GET /products/", { query: { limit: 100 } })).data.length;
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });

  test("a repeated request gets the same reply and has no second effect", async (own) => {
    const key = newKey();
    const first = await own.call<ProductReply>("POST /products/", withKey(key));
    await own.call(`PATCH /products/${first.data.id}/`, { body: { title: "Torch" } });
    const second = await own.call<ProductReply>("POST /products/", withKey(key));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.data).toEqual(first.data);
    expect(second.headers.get("etag")).toBe('"1"');
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(second.headers.get("content-language")).toBe(first.headers.get("content-language"));
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.requestId).not.toBe(first.requestId);
    expect(await countProducts(own)).toBe(1);
  });

  test("concurrent requests with one key create one order, and get equal replies, also from two processes", async (own) => {
    const { id } = await own.createProduct({ stock: 50 });
    const sent = withKey(newKey(), { body: { items: [{ product_id: id, quantity: 2 }] } });
    const second = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    const elsewhere = createClient(second, { namespace: own.namespace, auth: own.auth });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? own.call : elsewhere)("POST /orders/", sent)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(replies.filter(isReplay)).toHaveLength(19);
    const { data: orders } = await own.call<unknown[]>("GET /orders/");
    expect(orders).toHaveLength(1);
    const { data: product } = await own.call<ProductReply>(`GET /products/${id}/`);
    expect([product.stock, product.available]).toEqual([50, 48]);
    await second.stop();
  });

  onFile(
    "twenty concurrent requests create one user, whose password is hashed outside the transaction",
    async (own) => {
      const key = newKey();
      const body = { email: "twenty@example.com", password: "Vermilion-Kettle-4871" };
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => own.call("POST /users/", withKey(key, { body }))),
      );
      expect(new Set(replies.map(({ status, text }) => [status, status === 201 ? "" : text].join()))).toEqual(
        new Set(["201,"]),
      );
      expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
      expect(replies.filter(isReplay)).toHaveLength(19);
      expect(await readUsers(own)).toHaveLength(1);
      const changed = { ...body, password: "Cobalt+Teapot+1593!" };
      expect((await own.call("POST /users/", withKey(key, { body: changed }))).code).toBe(5307);
    },
  );

  onFile(
    "a request counts as the same with another order of fields, without its slash, or with namespace or credentials in another place",
    async () => {
      const { namespace, key: appKey } = shop;
      const { app_id, app_secret } = appKey;
      const key = newKey();
      const first = await shop.call("POST /products/", withKey(key));
      for (const [request, options] of [
        ["POST /products/", { raw: '{"metadata":{"c":{"e":2,"d":1},"b":[1,2],"a":1},"price":19.0,"title":"Lamp"}' }],
        ["POST /products/", { namespace: null, body: { ...lamp, namespace } }],
        ["POST /products/", { auth: null, query: { app_id, app_secret } }],
        ["POST /products", {}],
      ] as const) {
        const again = await shop.call(request, withKey(key, options));
        expect([again.status, again.data, isReplay(again)]).toEqual([201, first.data, true]);
      }
    },
  );

  onFile("an idempotency key with another body, language, subject or path is refused with 5307", async () => {
    const key = newKey();
    const first = await shop.call("POST /products/", withKey(key));
    const before = [await countProducts(shop), (await readUsers(shop)).length];
    for (const [request, options] of [
      ["POST /products/", { body: { ...lamp, price: 20 } }],
      ["POST /products/", { body: { ...lamp, metadata: { ...lamp.metadata, b: [2, 1] } } }],
      ["POST /products/", { query: { lang: "de" } }],
      ["POST /products/", { query: { user_id: "usr_01h455vb4pex5vsknk084sn02q" } }],
      ["POST /users/", { body: { email: "another-path@example.com" } }],
    ] as const) {
      const other = await shop.call(request, withKey(key, options));
      expect([options, other.status, other.code]).toEqual([options, 409, 5307]);
    }
    expect([await countProducts(shop), (await readUsers(shop)).length]).toEqual(before as [number, number]);
    expect((await shop.call("POST /products/", withKey(key))).data).toEqual(first.data);
  });

  onFile("the same idempotency key in another store, or from another app key or user, is a different key", async () => {
    const [own, other] = [await suite.shop(), await suite.shop()];
    const key = newKey();
    const staff = await openAccount(own, { role: "staff" });
    const colleague = await openAccount(own, { role: "staff" });
    const auth = bearer(await own.issueKey());
    const replies = [
      await own.call("POST /products/", withKey(key)),
      await other.call("POST /products/", withKey(key)),
      await own.call("POST /products/", withKey(key, { auth })),
      await staff.call("POST /products/", withKey(key)),
      await colleague.call("POST /products/", withKey(key)),
    ];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual(Array(5).fill([201, false]));
    expect(new Set(replies.map(({ data }) => data.id)).size).toBe(5);
    expect((await staff.call("POST /products/", withKey(key))).data).toEqual(replies[3]?.data as never);
  });

  onFile("a failed or refused request runs when it is repeated", async (own) => {
    const key = newKey();
    const body = { ...lamp, slug: "the-lamp" };
    const { data } = await own.call<ProductReply>("POST /products/", { body });
    const readOnly = bearer(await own.issueKey({ scopes: ["products:read"] }));
    expect((await own.call("POST /products/", withKey(key, { body, auth: readOnly }))).code).toBe(5300);
    expect((await own.call("POST /products/", withKey(key, { body: { ...body, price: -1 } }))).code).toBe(5102);
    expect((await own.call("POST /products/", withKey(key, { body }))).code).toBe(5302);
    await own.call(`DELETE /products/${data.id}/`);
    const again = await own.call("POST /products/", withKey(key, { body }));
    expect([again.status, isReplay(again)]).toEqual([201, false]);
    expect(isReplay(await own.call("POST /products/", withKey(key, { body })))).toBe(true);
  });

  onFile("a malformed idempotency key is refused with 5100", async () => {
    for (const key of ["", "a b", "x".repeat(256), "caf\u00e9", "a, b"]) {
      const { code, status } = await shop.call("POST /products/", withKey(key));
      expect({ key, code, status }).toEqual({ key, code: 5100, status: 400 });
      const dryRun = { query: { dry_run: "true" }, body: { items: [{ product_id: "prod_0", quantity: 1 }] } };
      expect((await shop.call("POST /orders/", withKey(key, dryRun))).code).toBe(5100);
    }
    for (const key of [`${newKey()}!~"#`, "x".repeat(255)]) {
      expect((await shop.call("POST /products/", withKey(key))).status).toBe(201);
    }
  });
});

/**
 * Counts the transactions of a database, and those during which the event loop turned. In a file, statements complete
 * synchronously, so such a transaction waited for something else and blocked all writers.
 */
function watchTurns(db: Database): { db: Database; transactions: () => number; turned: () => number } {
  let transactions = 0;
  let turned = 0;
  async function watched<T>(work: (tx: Session) => Promise<T>, tx: Session): Promise<T> {
    transactions += 1;
    let isOver = false;
    setImmediate(() => {
      if (!isOver) turned += 1;
    });
    try {
      return await work(tx);
    } finally {
      isOver = true;
    }
  }
  const proxy = new Proxy(db, {
    get(target, name) {
      if (name === "transaction") {
        return <T>(work: (tx: Session) => Promise<T>) => target.transaction((tx) => watched(work, tx));
      }
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db: proxy, transactions: () => transactions, turned: () => turned };
}

onDatabase("file", (suite) => {
  test("a route that stores its reply waits only for the database while its transaction is open", async () => {
    const watch = watchTurns(suite.database.db);
    const app = startTestApp({ db: watch.db, clock: suite.app.clock });
    const world = await openWorld(await createShop(app));
    for (const route of routes.filter(takesKey)) {
      const call = await (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);
      const body = route.id === "createUser" ? { ...call.body, password: "Vermilion-Kettle-4871" } : call.body;
      const before = { transactions: watch.transactions(), turned: watch.turned() };
      const headers = { "idempotency-key": `waiting-${route.id}` };
      const { error } = await makeCall(world, { ...call, ...(body && { body }) }, { headers });
      const seen = { error, transactions: watch.transactions(), turned: watch.turned() };
      const expected = { error: undefined, ...before, transactions: before.transactions + 1 };
      expect([route.id, seen]).toEqual([route.id, expected]);
    }
    await app.stop();
  });
});
