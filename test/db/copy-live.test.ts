import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { copyLive } from "../../src/server/backup/copy/copy-live.ts";
import { Connection } from "../../src/server/db/local/connection.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

test("a live copy is of one moment, although another program tries to empty the WAL while it is made", async () => {
  const dir = makeDir();
  const path = join(dir, "bodega.db");
  const db = await openDatabase({ dataDir: dir });
  await db.execute(createTable);
  await Promise.all(Array.from({ length: 900 }, (_, number) => db.execute(insertRow(`${number}-`.padEnd(4000, "x")))));
  await db.checkpoint();
  await db.execute("UPDATE things SET size = 2");
  // It does not know of the lock by which the program's own checkpointers wait for a backup.
  const stranger = new Connection(await loadLibsql(), path);
  let tries = 0;
  const onProgress = () => {
    if (tries++ === 0) stranger.run("PRAGMA wal_checkpoint(TRUNCATE)");
  };
  const target = join(dir, "copy.db");
  await copyLive(path, target, { onProgress, signal: new AbortController().signal });
  expect(tries).toBeGreaterThan(4);
  const copy = new Connection(await loadLibsql(), target);
  expect(copy.run("PRAGMA integrity_check").rows[0]?.[0]).toBe("ok");
  expect(copy.run("SELECT count(*), count(size) FROM things").rows[0]).toMatchObject({ 0: 900, 1: 900 });
  for (const open of [copy, stranger]) open.close();
  await db.close();
  rmSync(dir, { recursive: true, force: true });
});
