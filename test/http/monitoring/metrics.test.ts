import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordResult } from "../../../src/server/backup/location.ts";
import { readDatabaseFigures } from "../../../src/server/monitoring/database-figures.ts";
import { renderMetrics } from "../../../src/server/monitoring/metrics/prometheus.ts";
import { monitorProcess } from "../../../src/server/monitoring/process-monitor.ts";
import { readStatus } from "../../../src/server/monitoring/read-status.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { openTestDatabase, type TestDatabase } from "../../support/backend.ts";
import { createShop, type Shop } from "../../support/factories.ts";
import { checkReply } from "../../support/invariants.ts";
import { parseMetrics } from "../../support/prometheus.ts";

const token = "a-token-for-the-tests";
let database: TestDatabase;
let app: TestApp;
let shop: Shop;
let watch: ReturnType<typeof monitorProcess>;

beforeAll(async () => {
  database = await openTestDatabase("file");
  const { db } = database;
  watch = monitorProcess(db);
  const status = async () => {
    const database = await readDatabaseFigures({ db, dataDir: "/nowhere", certificateEnd: undefined });
    return readStatus({
      ...{ version: "1", url: "", workers: 1, registry: undefined },
      ...{ own: watch.read(), database, replication: () => undefined },
    });
  };
  const metrics = { token, text: async () => renderMetrics(await status()) };
  app = startTestApp({ db, meter: watch.meter, metrics });
  shop = await createShop(app);
  // Reads the API description first, because it uses an application with the same meter.
  await app.description();
});

afterAll(async () => {
  await app.stop();
  watch.stop();
  await database.close();
});

const ask = (init: RequestInit = {}, auth: string | undefined = `Bearer ${token}`) =>
  fetch(`${app.url}/metrics`, { ...init, headers: { ...(auth !== undefined && { authorization: auth }) } });
const read = async () => parseMetrics(await (await ask()).text());

describe("counters increase with each request", () => {
  const requests = "bodega_http_requests_total";
  const products = { route: "/products/", method: "GET" };

  test("requests are counted by route, method, status and code, each with its latency", async () => {
    const before = await read();
    for (let number = 0; number < 3; number++) await shop.call("GET /products/");
    await shop.call("GET /products/", { headers: { authorization: null }, auth: null });
    await shop.call("HEAD /products/");
    await shop.createProduct();
    await shop.call("GET /products/prod_none/");
    const after = await read();
    const grown = (name: string, labels: Record<string, string>) =>
      after.value(name, labels) - before.value(name, labels);

    expect(grown(requests, { ...products, status: "200" })).toBe(3);
    expect(grown(requests, { ...products, status: "401" })).toBe(1);
    expect(grown(requests, { ...products, method: "HEAD", status: "200" })).toBe(1);
    expect(grown(requests, { ...products, method: "POST", status: "201" })).toBe(1);
    expect(grown(requests, { route: "/products/:id/", method: "GET", status: "404" })).toBe(1);
    expect(grown("bodega_http_errors_total", { ...products, code: "5206" })).toBe(1);
    expect(grown("bodega_http_request_duration_seconds_count", products)).toBe(4);
    expect(grown("bodega_tenant_requests_total", { namespace: shop.namespace })).toBe(7);
    expect(grown("bodega_tenant_errors_total", { namespace: shop.namespace })).toBe(2);
    // The count includes the earlier call of the metrics page itself.
    expect(after.sum(requests) - before.sum(requests)).toBe(8);
    expect(after.value("bodega_http_requests_in_flight")).toBe(0);
  });

  test("unmatched requests are counted under one name, for any path and method", async () => {
    const before = await read();
    for (const path of ["/a", "/b/", "/c/d"]) await fetch(`${app.url}${path}`);
    await fetch(`${app.url}/products/`, { method: "PROPFIND" });
    await fetch(`${app.url}/products/`, { method: "MKCOL" });
    await fetch(`${app.url}/products/`, { method: "OPTIONS" });
    const after = await read();
    const grown = (labels: Record<string, string>) => after.sum(requests, labels) - before.sum(requests, labels);
    expect(grown({ route: "(none)", method: "GET", status: "404" })).toBe(3);
    expect(grown({ route: "/products/", method: "other", status: "405" })).toBe(2);
    expect(grown({ route: "/products/", method: "OPTIONS", status: "200" })).toBe(1);
    // Calls of an unknown store must not create a series.
    await shop.call("GET /products/", { namespace: "no-such-store" });
    expect((await read()).samples.map(({ labels }) => labels.namespace)).not.toContain("no-such-store");
  });

  test("sign-ins are counted by result", async () => {
    const user = await openAccount(shop);
    const before = await read();
    const login = (password: string, otp?: string) =>
      shop.callAnonymously("POST /auth/login/", { body: { email: user.email, password, ...(otp && { otp }) } });
    expect((await login("wrong")).code).toBe(5212);
    await user.enrol();
    expect((await login(goodPassword)).code).toBe(5211);
    expect((await login(goodPassword, await user.code())).status).toBe(200);
    for (let attempt = 0; attempt < 3; attempt++) await login("wrong");
    expect((await login(goodPassword)).code).toBe(5213);
    const after = await read();
    const grown = (result: string) =>
      after.value("bodega_sign_ins_total", { result }) - before.value("bodega_sign_ins_total", { result });
    expect([grown("succeeded"), grown("failed"), grown("two_factor"), grown("limited")]).toEqual([1, 4, 1, 1]);
  });
});

describe("/metrics at the server's own address", () => {
  test("/metrics at the server's own address is plain text with the token, and otherwise an error 5206 in the envelope", async () => {
    const reply = await ask();
    expect([reply.status, reply.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect((await ask({}, `bearer  ${token}`)).status).toBe(200);
    for (const auth of ["", `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, "Bearer", shop.auth]) {
      const refused = await ask({}, auth);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const { status, headers } = refused;
      const error = checkReply({ method: "GET", status, headers, text: await refused.text() })?.error;
      expect([error?.code, error?.remedy]).toEqual([5206, expect.stringContaining("BODEGA_METRICS_TOKEN")]);
    }
    const inQuery = await fetch(`${app.url}/metrics?token=${token}`);
    expect(inQuery.status).toBe(401);
  });

  test("/metrics at the server's own address replies to HEAD without a body, to other methods with 5105, and does not exist without a configured token", async () => {
    const head = await ask({ method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const posted = await ask({ method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const plain = startTestApp({ db: database.db });
    const reply = await fetch(`${plain.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect([reply.status, ((await reply.json()) as { error: { code: number } }).error.code]).toEqual([404, 5106]);
    expect((await fetch(`${plain.url}/metrics`, { method: "POST" })).status).toBe(405);
    await plain.stop();
  });

  test("/metrics at the server's own address replies 5001 while the main process does not answer", async () => {
    const text = () => Promise.reject(new Error("inside"));
    const waiting = startTestApp({ db: database.db, metrics: { token, text } });
    const reply = await fetch(`${waiting.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const said = await reply.text();
    expect([reply.status, said.includes("5001"), said.includes("inside")]).toEqual([503, true, false]);
    await waiting.stop();
  });

  test("/metrics at the server's own address contains no secrets and no data of clients", async () => {
    const text = await (await ask()).text();
    for (const hidden of [token, shop.key.app_id, shop.key.app_secret, "127.0.0.1", "@"])
      expect(text).not.toContain(hidden);
  });
});

test("a backup appears in the metrics at once", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "bodega-figures-"));
  const read = () => readDatabaseFigures({ db: database.db, dataDir, certificateEnd: 0 });
  expect(await read()).toMatchObject({ last_backup_at: null });
  const at = "2030-01-02T03:04:05.000Z";
  recordResult(dataDir, "backup", { last_success: { at, place: "/backups/1", bytes: 1 }, last_failure: null });
  expect(await read()).toMatchObject({ last_backup_at: at, last_backup_failed_at: null });
  rmSync(dataDir, { recursive: true });
});

test("an unreachable database does not delay other metrics", async () => {
  const away = Object.assign(Object.create(database.db), { execute: () => new Promise(() => {}), first: undefined });
  const read = readDatabaseFigures({ db: away, dataDir: "/nowhere", certificateEnd: 0 });
  expect(await read).toMatchObject({ queues: null, certificate_expires_at: "1970-01-01T00:00:00.000Z" });
});

test("a probe is logged only at level debug, but a failed probe at the level of its error", async () => {
  const quiet = startTestApp({ db: database.db, metrics: { token, text: async () => "" } });
  const loud = startTestApp({ db: database.db, logLevel: "debug" });
  for (const path of ["/health/live", "/health/ready"]) {
    await fetch(`${quiet.url}${path}`);
    await fetch(`${loud.url}${path}`);
  }
  expect(quiet.entries).toEqual([]);
  expect(loud.entries.map(({ level, path }) => [level, path])).toEqual([
    ["debug", "/health/live"],
    ["debug", "/health/ready"],
  ]);
  await fetch(`${quiet.url}/metrics`);
  expect(quiet.entries.map(({ level, code }) => [level, code])).toEqual([["warn", 5206]]);
  await Promise.all([quiet.stop(), loud.stop()]);
});

test("requests below the log level are counted, too", async () => {
  const silent = startTestApp({ db: database.db, logLevel: "error", meter: watch.meter });
  const before = await read();
  await fetch(`${silent.url}/products/?namespace=none`);
  const after = await read();
  const code = { code: "5215" };
  expect(silent.entries).toEqual([]);
  expect(after.sum("bodega_http_errors_total", code) - before.sum("bodega_http_errors_total", code)).toBe(1);
  await silent.stop();
});
