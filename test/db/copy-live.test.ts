import { expect, test } from "bun:test";
import { existsSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { copyLive } from "../../src/server/backup/copy/copy-live.ts";
import { Connection } from "../../src/server/db/local/connection.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

/**
 * Opens a database of a few megabytes. Also returns a function that makes its WAL look 30 MiB larger until a
 * checkpoint.
 */
async function openBusy() {
  const dir = makeDir();
  const path = join(dir, "bodega.db");
  const db = (await openDatabase({ dataDir: dir })) as FileDatabase;
  await db.execute(createTable);
  await Promise.all(Array.from({ length: 900 }, (_, number) => db.execute(insertRow(`${number}-`.padEnd(4000, "x")))));
  await db.checkpoint();
  await db.execute("UPDATE things SET size = 2");
  return {
    db,
    path,
    target: join(dir, "copy.db"),
    grow: () => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size + 30 * 1024 * 1024),
    async close() {
      await db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

test("a live copy is consistent, although another program tries to empty the WAL during the copy", async () => {
  const { path, target, close } = await openBusy();
  // This connection ignores the lock that makes the program's checkpointers wait for a backup.
  const stranger = new Connection(await loadLibsql(), path);
  let tries = 0;
  const onProgress = () => {
    if (tries++ === 0) stranger.run("PRAGMA wal_checkpoint(TRUNCATE)");
  };
  await copyLive(path, target, { onProgress, signal: new AbortController().signal });
  expect(tries).toBeGreaterThan(4);
  const copy = new Connection(await loadLibsql(), target);
  expect(copy.run("PRAGMA integrity_check").rows[0]?.[0]).toBe("ok");
  expect(copy.run("SELECT count(*), count(size) FROM things").rows[0]).toMatchObject({ 0: 900, 1: 900 });
  for (const open of [copy, stranger]) open.close();
  await close();
});

test("a live copy stops if the WAL grows too fast, and starts again when the WAL was emptied", async () => {
  const { db, path, target, grow, close } = await openBusy();
  let [calls, emptied] = [0, false];
  const checkpoints = setInterval(async () => {
    if (calls > 0 && (await db.checkpoint())) emptied = true;
  }, 10);
  const onProgress = () => {
    if (calls++ === 0) grow();
  };
  await copyLive(path, target, { onProgress, signal: new AbortController().signal });
  clearInterval(checkpoints);
  expect(emptied).toBe(true);
  const copy = new Connection(await loadLibsql(), target);
  expect(copy.run("SELECT count(*), sum(size) FROM things").rows[0]).toMatchObject({ 0: 900, 1: 1800 });
  copy.close();
  await close();
});

test("a live copy fails if the database grows faster than it can be copied, and the checkpointer can then empty the WAL", async () => {
  const { db, path, target, grow, close } = await openBusy();
  const checkpoints = setInterval(() => void db.checkpoint(), 10);
  const copying = copyLive(path, target, { onProgress: grow, signal: new AbortController().signal });
  await expect(copying).rejects.toThrow("The database is written to faster than it can be copied.");
  clearInterval(checkpoints);
  while (!(await db.checkpoint())) await Bun.sleep(5);
  expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size).toBe(0);
  await close();
}, 20_000);
