import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { dumpDatabase } from "../../src/server/backup/copy/dump.ts";
import { inspectTarget, loadDatabase } from "../../src/server/backup/restore/load-server.ts";
import { copyDatabase, migrate } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { spawnChild } from "../db/spawn-child.ts";
import { openAccount } from "../support/account.ts";
import { startTestApp } from "../support/app.ts";
import { createClient } from "../support/client.ts";
import { readWhole, type WholeFile } from "../support/copies.ts";
import { createShop, type Shop } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { actOn, makeOrder } from "../support/orders.ts";
import { givePoints } from "../support/rewards.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";

/** Removes all objects of the database. The program itself never does so. */
async function clear(db: Database): Promise<void> {
  const { rows } = await db.execute(
    "select name from pragma_table_list where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite%'",
  );
  await db.migrate(rows.map(({ name }) => `drop table "${name}"`));
}

async function tablesOf(db: Database): Promise<string[]> {
  const { rows } = await db.execute("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'");
  return rows.map(({ name }) => String(name));
}

describe.if(hasSqld)("loading a database file into a libSQL server", () => {
  let dir: string;
  let source: string;
  let whole: WholeFile;
  let server: Sqld;
  let db: Database;
  let shop: Shop;
  let copies = 0;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "bodega-load-"));
    const file = await openStoreDatabase({ dataDir: join(dir, "data") });
    await migrate(file);
    const app = startTestApp({ db: file });
    shop = await createShop(app);
    const { id } = await openAccount(shop);
    const lamp = await shop.createProduct({ title: "Lamp", price: 10, stock: 50, sku: "LAMP" });
    for (let index = 0; index < 8; index++) await shop.createProduct({ title: `Chair ${index}` });
    await givePoints(shop, id, 100);
    await actOn(shop, await makeOrder(shop, [{ product_id: lamp.id }], { customer_id: id, use_points: 50 }), "pay");
    await shop.callAnonymously("POST /likes/", { body: { resource_type: "product", resource_id: lamp.id } });
    // The counter gets a higher number than there are rows. The search index has merged segments.
    await file.execute("update sqlite_sequence set seq = seq + 100 where name = 'reward_entries'");
    await file.execute("insert into product_search (product_search) values ('optimize')");
    // A deletion from such a segment has a number that is too large for JavaScript.
    await shop.call(`DELETE /products/${lamp.id}/`);
    await app.stop();
    source = join(dir, "source.db");
    await copyDatabase(join(dir, "data", "bodega.db"), source);
    await file.close();
    whole = await readWhole(source);
    expect(whole.rows.product_search_data?.some(([id]) => (id as bigint) > Number.MAX_SAFE_INTEGER)).toBe(true);
    server = await startSqld();
    db = await openStoreDatabase({ dataDir: dir, url: server.url });
  }, 30_000);

  beforeEach(() => clear(db));

  afterAll(async () => {
    await db.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function dump(): Promise<WholeFile> {
    copies += 1;
    const path = join(dir, `dump-${copies}.db`);
    await dumpDatabase(db, path);
    return readWhole(path);
  }

  test("loading a database file into a libSQL server and dumping it again returns the same rows in every table, even if servers have created the schema", async () => {
    await migrate(db);
    await db.execute("update revision set value = 7");
    const progress: [number, number][] = [];
    await loadDatabase(source, db, { onProgress: (...step) => progress.push(step) });
    const total = progress[0]?.[1] ?? 0;
    expect(total).toBeGreaterThan(50);
    expect(progress[0]).toEqual([0, total]);
    expect(progress.at(-1)).toEqual([total, total]);
    // These servers must notice the change.
    const before = whole.rows.revision?.[0]?.[1] as bigint;
    expect(await dump()).toEqual({ ...whole, rows: { ...whole.rows, revision: [[1n, before + 7n]] } });
    expect(Object.values(whole.rows).filter((rows) => rows.length > 0).length).toBeGreaterThan(20);
    expect(await migrate(db)).toEqual({ applied: [] });
    const found = await db.execute("select count(*) as n from sqlite_schema where type = 'trigger'");
    expect(found.rows[0]?.n).toBeGreaterThan(20);
    const app = startTestApp({ db });
    const call = createClient(app, { namespace: shop.namespace, auth: shop.auth });
    expect((await call<unknown[]>("GET /products/", { query: { q: "chair" } })).data).toHaveLength(8);
    await app.stop();
  });

  test("loading a database file into a libSQL server is refused, and changes nothing, if the server has a store, an audit log, or another program's tables", async () => {
    const refusal = async () => {
      const failures = [await failureOf(inspectTarget(db)), await failureOf(loadDatabase(source, db))];
      expect(failures[0]).toEqual(failures[1] as Error);
      expect(failures[0]).toMatchObject({ code: 5302 });
      return String(failures[0]);
    };
    await db.migrate(["create table things (n integer)"]);
    expect(await refusal()).toContain("tables of another program (things)");
    expect(await tablesOf(db)).toEqual(["things"]);
    await clear(db);
    await loadDatabase(source, db);
    expect(await refusal()).toContain("contains stores (1)");
    await db.migrate(["delete from tenants"]);
    expect(await refusal()).toContain("audit log of removed stores");
    await inspectTarget(db).catch(() => {});
  });

  test("if loading a database file into a libSQL server is stopped or fails, the database is empty", async () => {
    const stop = new AbortController();
    const onProgress = (done: number, total: number) => done > total / 2 && stop.abort(new Error("enough"));
    const failure = await failureOf(loadDatabase(source, db, { onProgress, signal: stop.signal }));
    expect(String(failure)).toBe("Error: enough");
    expect(await tablesOf(db)).toEqual([]);
    const strange = join(dir, "data", "bodega.db-users");
    expect(await failureOf(loadDatabase(strange, db))).toMatchObject({ code: 5302 });
    expect(await tablesOf(db)).toEqual([]);
  });

  test("if a process is killed while it loads a database file into a libSQL server, the database cannot be used until the next load", async () => {
    const child = spawnChild("load-half", dir, source, server.url);
    expect(await child.nextLine()).toBe("half");
    child.kill();
    await child.exited;
    expect(await failureOf(dump())).toMatchObject({ code: 5306 });
    expect(await failureOf(migrate(db))).toMatchObject({ code: 5306, remedy: expect.stringContaining("db restore") });
    await inspectTarget(db);
    await loadDatabase(source, db);
    expect(await migrate(db)).toEqual({ applied: [] });
  });

  test("loading a database file into a libSQL server starts again after an outage of the server", async () => {
    const own = join(dir, "server");
    let away = await startSqld({ dir: own });
    const remote = await openStoreDatabase({ dataDir: dir, url: away.url });
    let gone: Promise<void> | undefined;
    const onProgress = (done: number, total: number) => {
      if (done > total / 2) gone ??= away.stop();
    };
    expect(await failureOf(loadDatabase(source, remote, { onProgress }))).toMatchObject({ code: 5001 });
    await gone;
    away = await startSqld({ dir: own, port: Number(new URL(away.url).port) });
    expect(await failureOf(migrate(remote))).toMatchObject({ code: 5306 });
    await loadDatabase(source, remote);
    expect(await migrate(remote)).toEqual({ applied: [] });
    await remote.close();
    await away.stop();
  }, 20_000);

  test("of two concurrent loads, at most one succeeds and leaves its rows; if both fail, the database is empty", async () => {
    let second: Promise<unknown> | undefined;
    const outcome = (work: Promise<void>) => work.then(() => null).catch((error: unknown) => error);
    const onProgress = (done: number) => {
      if (done > 0) second ??= outcome(loadDatabase(source, db));
    };
    const first = await outcome(loadDatabase(source, db, { onProgress }));
    const errors = [first, await second].filter((error) => error !== null);
    expect(errors).not.toEqual([]);
    for (const error of errors) expect([5001, 5302]).toContain((error as { code: number }).code);
    if (errors.length === 2) expect(await tablesOf(db)).toEqual([]);
    else expect(await dump()).toEqual(whole);
  });
});
