import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { InStatement } from "@libsql/core/api";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createReadiness } from "../../src/server/monitoring/readiness.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

const pageBytes = 4096;
const notDatabase = "The database file is not a database.";
const damaged = "The database file is damaged. Stop the server and check it with: bodega db check";
const countThings = "SELECT count(*) FROM things";

let dir: string;
let db: FileDatabase;
/** This descriptor stays open, because closing it would release the locks of the connections. */
let fd: number;

beforeEach(async () => {
  dir = makeDir();
  db = (await openDatabase({ dataDir: dir, lockDeadlineMs: 50 })) as FileDatabase;
  await migrate(db);
  await db.execute(createTable);
  fd = openSync(join(dir, "bodega.db"), "r+");
});

afterEach(async () => {
  await db.close();
  closeSync(fd);
  rmSync(dir, { recursive: true, force: true });
});

/** Damages a page as a faulty disk might. The returned function repairs it. */
function spoil(page: number): () => void {
  const sound = Buffer.alloc(pageBytes);
  const at = (page - 1) * pageBytes;
  readSync(fd, sound, 0, pageBytes, at);
  writeSync(fd, Buffer.alloc(pageBytes, 7), 0, pageBytes, at);
  return () => void writeSync(fd, sound, 0, pageBytes, at);
}

/** Commits through another connection, and empties the WAL, so that the next read reads the file. */
async function commitElsewhere(stmt: InStatement = "UPDATE revision SET value = value + 1"): Promise<void> {
  const other = (await openDatabase({ dataDir: dir })) as FileDatabase;
  await other.execute(stmt);
  while (!(await other.checkpoint())) await Bun.sleep(1);
  await other.close();
}

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    ({ message }) => message,
  );
const count = async () => (await db.execute(countThings)).rows[0]?.[0];

test("reads, writes and snapshots work again when the database file can be read again", async () => {
  await db.execute(insertRow("first"));
  const version = db.dataVersion();
  db.reader.dropSnapshot();
  await commitElsewhere(insertRow("second"));
  const restore = spoil(1);
  expect(() => db.dataVersion()).toThrow(notDatabase);
  expect(db.reader.connection.inTransaction).toBe(false);
  expect(await messageOf(db.execute(insertRow("refused")))).toBe(notDatabase);
  const refused = [await messageOf(count()), await messageOf(db.execute(insertRow("refused")))];
  expect(refused).toEqual([notDatabase, notDatabase]);
  restore();
  expect(await count()).toBe(2);
  await db.execute(insertRow("third"));
  expect(await count()).toBe(3);
  // The new engine counts from the beginning. A version must not occur twice, because a cache would then use an old
  // state.
  expect(db.dataVersion()).toBeGreaterThan((version ?? 0) + 2 ** 31);
  expect((await db.execute("PRAGMA foreign_keys")).rows[0]?.[0]).toBe(1);
  expect(() => db.reader.connection.run("DELETE FROM things")).toThrow(/readonly|cannot be written/);
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null });
  expect(await findUnready()).toBeUndefined();
  await db.close();
  expect(() => db.writer.run(countThings)).toThrow("closed");
});

test("if the database file is removed after a read error, no new file is created", async () => {
  db.dataVersion();
  db.reader.dropSnapshot();
  await commitElsewhere();
  spoil(1);
  expect(() => db.dataVersion()).toThrow(notDatabase);
  renameSync(join(dir, "bodega.db"), join(dir, "away.db"));
  expect(await messageOf(count())).not.toBe("done");
  expect([db.reader.connection.reopened, existsSync(join(dir, "bodega.db"))]).toEqual([0, false]);
  renameSync(join(dir, "away.db"), join(dir, "bodega.db"));
});

test.each(["", "-wal", "-shm"])("after bodega.db%s is removed, no write is acknowledged", async (suffix) => {
  await db.execute(insertRow("first"));
  const path = join(dir, `bodega.db${suffix}`);
  renameSync(path, `${path}.away`);
  expect(db.isInPlace()).toBe(false);
  expect(await messageOf(db.execute(insertRow("lost")))).toBe("The database file was removed or replaced.");
  renameSync(`${path}.away`, path);
  expect(await count()).toBe(1);
});

test("a server with a damaged database file is not ready until it is restarted", async () => {
  await commitElsewhere(insertRow("first"));
  const root = (await db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'things'")).rows[0]?.[0] as number;
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null });
  const list = () => db.execute("SELECT * FROM things NOT INDEXED");
  const restore = spoil(root);
  await commitElsewhere();
  expect(await messageOf(list())).toMatch("is damaged");
  expect(await findUnready()).toBeUndefined();
  expect(await messageOf(list())).toMatch("is damaged");
  restore();
  expect((await findUnready())?.message).toBe(damaged);
});
