import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

describe.if(hasSqld)("a database server", () => {
  let dir: string;
  let server: Sqld;
  const open: Database[] = [];

  async function connect(options: { url: string }) {
    const db = await openDatabase({ dataDir: join(dir, "local"), ...options });
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

  test("that cannot be reached is 5001 for every call, and works again once it is back", async () => {
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
      db.migrate([createTable]),
    ];
    for (const one of await Promise.allSettled(attempts)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
    }
    await restart();
    await db.transaction((tx) => tx.execute(insertRow("after")));
    expect(await namesIn(db)).toEqual(["after", "before"]);
  }, 20_000);

  test("that goes away during a transaction is 5001, and the transaction writes nothing", async () => {
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

  test("an invalid address of any form is 5102", async () => {
    for (const url of ["ftp://example.org", "bodega.db", "file:x.db", "http://"]) {
      await expect(connect({ url })).rejects.toMatchObject({ code: 5102 });
    }
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
});
