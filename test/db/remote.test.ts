import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import { ReplicaSync } from "../../src/server/db/server/replica-sync.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

describe.if(hasSqld)("a database server", () => {
  let dir: string;
  let server: Sqld;
  const open: Database[] = [];

  async function connect(options: { url?: string; syncUrl?: string; lockDeadlineMs?: number }, at = dir) {
    const db = await openDatabase({ dataDir: join(at, "local"), ...options });
    open.push(db);
    return db;
  }

  async function namesIn(db: Database): Promise<unknown[]> {
    return (await db.execute("SELECT name FROM things ORDER BY name")).rows.map((row) => row.name);
  }

  beforeEach(async () => {
    dir = makeDir();
    server = await startSqld({ dir: join(dir, "server") });
  });

  afterEach(async () => {
    for (const db of open.splice(0)) await db.close().catch(() => {});
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const restart = async () => {
    const port = Number(new URL(server.url).port);
    server = await startSqld({ dir: join(dir, "server"), port });
  };

  test("that is gone is 5001 for everything, and works again once it is back", async () => {
    const db = await connect({ url: server.url });
    await db.execute(createTable);
    await db.execute(insertRow("before"));
    await server.stop();
    const attempts = [
      db.execute("SELECT 1"),
      db.execute(insertRow("lost")),
      db.batch(["SELECT 1"], "read"),
      db.batch([insertRow("lost")]),
      db.transaction((tx) => tx.execute(insertRow("lost"))),
      db.client.migrate([createTable]),
    ];
    for (const one of await Promise.allSettled(attempts)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
    }
    await restart();
    await db.transaction((tx) => tx.execute(insertRow("after")));
    expect(await namesIn(db)).toEqual(["after", "before"]);
  }, 20_000);

  test("that goes away within a transaction is 5001, and the transaction leaves nothing", async () => {
    const db = await connect({ url: server.url });
    await db.execute(createTable);
    const attempt = db.transaction(async (tx) => {
      await tx.execute(insertRow("half"));
      await server.stop();
      await tx.execute(insertRow("other half"));
    });
    await expect(attempt).rejects.toMatchObject({ code: 5001 });
    await restart();
    expect(await namesIn(db)).toEqual([]);
    await db.execute(insertRow("after"));
  }, 20_000);

  test("an address that is none is 5102, whatever the form", async () => {
    for (const url of ["ftp://example.org", "bodega.db", "file:x.db", "http://"]) {
      await expect(connect({ url })).rejects.toMatchObject({ code: 5102 });
    }
    await expect(connect({ url: server.url, syncUrl: server.url })).rejects.toMatchObject({ code: 5102 });
    const socket = await connect({ url: server.url.replace("http:", "ws:") });
    expect((await socket.execute("SELECT 1 AS one")).rows[0]?.one).toBe(1);
  });

  test("two processes that increment the same row lose no increment", async () => {
    const [one, two] = [await connect({ url: server.url }), await connect({ url: server.url })];
    await one.batch(["CREATE TABLE counter (n INTEGER)", "INSERT INTO counter VALUES (0)"]);
    const increment = (db: Database) =>
      db.transaction(async (tx) => {
        const { rows } = await tx.execute("SELECT n FROM counter");
        await tx.execute({ sql: "UPDATE counter SET n = ?", args: [(rows[0]?.n as number) + 1] });
      });
    await Promise.all(Array.from({ length: 30 }, (_, i) => increment(i % 2 === 0 ? one : two)));
    expect((await one.execute("SELECT n FROM counter")).rows[0]?.n).toBe(30);
  }, 20_000);

  test("a replica reads its own writes at once and others' within a second or two", async () => {
    const replica = await connect({ syncUrl: server.url });
    const other = await connect({ url: server.url });
    await replica.execute(createTable);
    for (let i = 0; i < 50; i++) {
      await replica.execute(insertRow(`own-${i}`));
      expect((await namesIn(replica)).length).toBe(i + 1);
    }
    await Promise.all(Array.from({ length: 50 }, (_, i) => replica.execute(insertRow(`burst-${i}`))));
    expect((await namesIn(replica)).length).toBe(100);
    await other.execute(insertRow("from elsewhere"));
    const atPrimary = await replica.primary.execute("SELECT count(*) AS n FROM things");
    expect(atPrimary.rows[0]?.n).toBe(101);
    const deadline = performance.now() + 4000;
    while ((await namesIn(replica)).length < 101 && performance.now() < deadline) await Bun.sleep(50);
    expect(await namesIn(replica)).toContain("from elsewhere");
  }, 20_000);

  test("a replica goes on reading while its primary is gone, refuses writes, and catches up", async () => {
    const replica = await connect({ syncUrl: server.url });
    await replica.execute(createTable);
    await replica.execute(insertRow("before"));
    await server.stop();
    await expect(replica.execute(insertRow("lost"))).rejects.toMatchObject({ code: 5001 });
    await expect(replica.transaction((tx) => tx.execute(insertRow("lost")))).rejects.toMatchObject({ code: 5001 });
    expect(await namesIn(replica)).toEqual(["before"]);
    await restart();
    await replica.execute(insertRow("after"));
    expect(await namesIn(replica)).toEqual(["after", "before"]);
  }, 30_000);

  test("a replica opened again goes on from its copy, and two at once keep a copy each", async () => {
    const first = await connect({ syncUrl: server.url });
    await first.execute(createTable);
    await first.execute(insertRow("row"));
    const second = await connect({ syncUrl: server.url });
    expect(await namesIn(second)).toEqual(["row"]);
    await second.execute(insertRow("row 2"));
    expect(await namesIn(second)).toEqual(["row", "row 2"]);
    const copies = readdirSync(join(dir, "local")).filter((name) => name.endsWith(".db"));
    expect(copies.toSorted()).toEqual(["replica-2.db", "replica.db"]);
    await first.close();
    const again = await connect({ syncUrl: server.url });
    expect(await namesIn(again)).toEqual(["row", "row 2"]);
    expect(existsSync(join(dir, "local", "replica-3.db"))).toBe(false);
  }, 20_000);

  test("a copy of another database is fetched anew", async () => {
    const replica = await connect({ syncUrl: server.url });
    await replica.execute(createTable);
    await replica.execute(insertRow("old"));
    await replica.close();
    const other = await startSqld();
    const again = await connect({ syncUrl: other.url });
    expect((await again.execute("SELECT name FROM sqlite_schema")).rows).toEqual([]);
    await again.execute(createTable);
    expect(await namesIn(again)).toEqual([]);
    await again.close();
    await other.stop();
  }, 20_000);

  test("a replica whose primary cannot be reached is 5001 at once", async () => {
    await server.stop();
    const started = performance.now();
    await expect(connect({ syncUrl: server.url })).rejects.toMatchObject({ code: 5001 });
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe("the synchronisation of a replica", () => {
  test("is shared by writers that wait at once, and never one that began before the write", async () => {
    const runs: (() => void)[] = [];
    const sync = new ReplicaSync({
      sync: () => new Promise<void>((resolve) => runs.push(resolve)),
      ping: () => Promise.reject(new Error("not asked")),
      everyMs: 60_000,
    });
    const first = sync.afterWrite();
    const rest = Promise.all(Array.from({ length: 10 }, () => sync.afterWrite()));
    expect(runs).toHaveLength(1);
    runs[0]?.();
    await first;
    await Bun.sleep(0);
    expect(runs).toHaveLength(2);
    runs[1]?.();
    await rest;
    await sync.stop();
  });

  test("that fails after a write sends reads to the primary until one succeeds", async () => {
    let fails = true;
    const sync = new ReplicaSync({
      sync: () => (fails ? Promise.reject(new Error("no network")) : Promise.resolve()),
      ping: () => Promise.resolve(),
      everyMs: 60_000,
    });
    await sync.afterWrite();
    expect(sync.isBehind).toBe(true);
    fails = false;
    await sync.afterWrite();
    expect(sync.isBehind).toBe(false);
    await sync.stop();
  });
});
