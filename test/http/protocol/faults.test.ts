import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { openStoreDatabase } from "../../../src/server/admin/open-database.ts";
import { readWithCredentials } from "../../../src/server/api/read-with-credentials.ts";
import { migrate } from "../../../src/server/db/migrate.ts";
import { AppError } from "../../../src/server/errors.ts";
import { defineRoute, publicAccess, type Route, reply } from "../../../src/server/http/route.ts";
import type { CredentialLookup, ResolvedCredentials } from "../../../src/server/modules/app-keys/lookup.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { type Call, createClient } from "../../support/client.ts";
import { createShop, type ProductReply, type Shop } from "../../support/factories.ts";
import { hasSqld, startSqld } from "../../support/sqld.ts";
import { onDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

const inside = "inner-detail-7f3a";

/** Errors that a handler throws. */
const faults: Record<string, () => unknown> = {
  error: () => {
    throw new Error(`${inside} at /usr/lib/secret/place.ts`);
  },
  type: () => (undefined as unknown as { x: { y: 1 } }).x.y,
  text: () => Promise.reject(inside),
  nothing: () => Promise.reject(),
  rejected: () => Promise.reject(new Error(inside)),
  cause: () => {
    throw new Error("outer", { cause: new Error(inside) });
  },
  recursion: () => [faults.recursion?.()],
  sql: async () => {
    throw Object.assign(new Error(`SQLITE_ERROR: no such table: ${inside}`), { code: "SQLITE_ERROR" });
  },
  lines: () => {
    throw new Error(`first\n2030-01-01T00:00:00.000Z GET /forged/ 200 ${inside}`);
  },
  circular: () => {
    const value: Record<string, unknown> = {};
    value.self = value;
    return reply(value);
  },
  undefined: () => undefined,
};

const common = { tag: "Faults", access: [publicAccess], reply: { data: Type.Object({}) } } as const;

const routes: Route[] = [
  ...Object.entries(faults).map(([name, work]) =>
    defineRoute("GET", `/faults/${name}/`, `fault-${name}`, { ...common, summary: "Fails", handle: work as never }),
  ),
  defineRoute("POST", "/unavailable/", "unavailable", {
    ...common,
    summary: "Cannot now",
    handle: () => {
      throw new AppError("unavailable", "The database is busy.", { cause: new Error(inside), isInternal: true });
    },
  }),
];

/** Reads twice, with a clock that makes the first read take eleven seconds. */
const slowReads = defineRoute("GET", "/slow-reads/", "slow-reads", {
  ...common,
  summary: "Reads slowly",
  async handle({ ctx }) {
    const first = ctx.db.execute("SELECT 1");
    const now = performance.now.bind(performance);
    const clock = spyOn(performance, "now").mockImplementation(() => now() + 11_000);
    await first.finally(() => clock.mockRestore());
    await ctx.db.execute("SELECT 2");
    return reply({});
  },
});

onDatabase("file", (suite) => {
  let shop: Shop;
  let app: TestApp;
  let call: Call;
  beforeAll(async () => {
    shop = await suite.shop();
    app = startTestApp({ db: suite.database.db, clock: suite.app.clock, routes });
    call = createClient(app, { namespace: shop.namespace, auth: shop.auth });
  });
  afterAll(() => app.stop());

  test.each(Object.keys(faults))('a handler that fails (%s) gets "Internal error." without details', async (name) => {
    const { code, status, error, text, requestId } = await call(`GET /faults/${name}/`);
    expect([code, status, error?.message]).toEqual([5000, 500, "Internal error."]);
    expect(text).not.toContain(inside);
    const logged = app.entries.at(-1);
    expect(logged).toMatchObject({ request_id: requestId, status: 500, code: 5000, path: `/faults/${name}/` });
    expect(logged?.fault).toMatch(/\S/);
  });

  test("the log has the error of a handler in one line, without stack or path", async () => {
    await call("GET /faults/error/");
    const [text = "", json = ""] = app.lines.slice(-2);
    for (const line of [text, json]) {
      expect(line).toContain(inside);
      expect(line).not.toContain("secret/place");
      expect(line.trimEnd()).not.toContain("\n");
    }
    await call("GET /faults/lines/");
    for (const line of app.lines.slice(-2)) {
      expect(line.trimEnd()).not.toContain("\n");
      expect(line).not.toContain("/forged/");
    }
    await call("GET /faults/cause/");
    expect(app.entries.at(-1)?.fault).toContain(inside);
  });

  test("HEAD of a handler that fails is 500 without a body", async () => {
    expect((await call("HEAD /faults/error/")).status).toBe(500);
  });

  test("an unavailable database gets 5001 with Retry-After and a general message; only the log has the error and its cause", async () => {
    const { code, status, text, error, headers } = await call("POST /unavailable/");
    expect([code, status, headers.get("retry-after")]).toEqual([5001, 503, "1"]);
    const message = "Temporarily unavailable.";
    expect(error).toEqual({ code: 5001, type: "unavailable", message, remedy: "Try again shortly." });
    expect(text).not.toContain(inside);
    expect(app.entries.at(-1)?.fault).toContain("The database is busy.");
    expect(app.entries.at(-1)?.fault).toContain(inside);
  });
});

describe.skipIf(!hasSqld)("an outage of the libSQL server", () => {
  test("an outage of the libSQL server makes requests fail with 5001 at once, or after ten seconds, until the server is back", async () => {
    const dir = mkdtempSync(join(tmpdir(), "bodega-outage-"));
    const options = { dir: join(dir, "server") };
    let server = await startSqld(options);
    const { url } = server;
    const db = await openStoreDatabase({ dataDir: join(dir, "data"), url });
    await migrate(db);
    const app = startTestApp({ db });
    const shop = await createShop(app);
    const { id } = await shop.createProduct();
    const slow = startTestApp({ db, routes: [slowReads] });
    const { code } = await createClient(slow, { namespace: shop.namespace, auth: shop.auth })("GET /slow-reads/");
    expect(code).toBe(5001);
    await slow.stop();

    await server.stop();
    for (const [request, sent] of [
      ["GET /products/", {}],
      [`GET /products/${id}/`, {}],
      ["POST /products/", { body: { title: "Torch", price: 2 } }],
      ["GET /products/", { auth: "Bearer a:b" }],
      ["GET /health/ready", {}],
    ] as const) {
      const { code, status, headers } = await shop.call(request, sent);
      expect({ request, code, status, retry: headers.get("retry-after") }).toEqual({
        request,
        code: 5001,
        status: 503,
        retry: "1",
      });
    }
    expect((await shop.call("GET /health/live")).status).toBe(200);
    expect((await shop.call("GET /nothing/")).code).toBe(5106);

    server = await startSqld({ ...options, port: Number(new URL(url).port) });
    await until("the service works again", async () => (await shop.call("GET /health/ready")).status === 200);
    const { data } = await shop.call<ProductReply>(`PATCH /products/${id}/`, { body: { price: 3 } });
    expect(data).toMatchObject({ id, price: 3, version: 2 });
    expect((await shop.call<ProductReply>(`GET /products/${id}/`)).data).toEqual(data);

    await app.stop();
    await db.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 30_000);
});

const known = (stored: string): ResolvedCredentials => ({ tenant: null, key: null, stored });

/** Replies with the credentials that it got. Counts the reads and the replies. */
async function readOnce(read: () => Promise<ResolvedCredentials>) {
  const counts = { reads: 0, answers: 0 };
  const find = () => {
    counts.reads++;
    return read();
  };
  const lookup: CredentialLookup = { find, cached: () => known("cached") };
  const answered = await readWithCredentials(lookup, async (find) => {
    counts.answers++;
    const { stored } = await Promise.resolve(find("demo", undefined)).catch(() => known("refused"));
    return stored;
  });
  return { answered, ...counts };
}

test("a read that was answered with cached credentials is answered again if they have changed or cannot be read", async () => {
  expect(await readOnce(async () => known("cached"))).toEqual({ answered: "cached", reads: 1, answers: 1 });
  expect(await readOnce(async () => known("new"))).toEqual({ answered: "new", reads: 1, answers: 2 });
  const failing = () => Promise.reject(new Error("no answer"));
  expect(await readOnce(failing)).toEqual({ answered: "refused", reads: 1, answers: 2 });
});
