import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { acquireServerLock, isServerRunning } from "../../src/server/db/local/file-lock.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

let dir: string;

beforeEach(() => {
  dir = join(makeDir(), "data");
});

afterEach(() => rmSync(join(dir, ".."), { recursive: true, force: true }));

test("a data directory has only one server, until this server releases the lock", async () => {
  expect(await isServerRunning(dir)).toBe(false);
  expect(existsSync(dir)).toBe(false);
  const lock = await acquireServerLock(dir);
  expect(await isServerRunning(dir)).toBe(true);
  expect(await acquireServerLock(dir)).toBeNull();
  // Taking the lock writes nothing, so a full disk cannot prevent it.
  expect(readdirSync(dir).toSorted()).toEqual([".gitignore", "server.lock"]);
  lock?.close();
  expect(await isServerRunning(dir)).toBe(false);
  (await acquireServerLock(dir))?.close();
});

test("directories that link to one database file share its lock", async () => {
  const db = await openDatabase({ dataDir: dir });
  await db.close();
  const beside = join(dir, "../beside");
  mkdirSync(beside);
  symlinkSync(join(dir, "bodega.db"), join(beside, "bodega.db"));
  const lock = await acquireServerLock(beside);
  expect(await acquireServerLock(dir)).toBeNull();
  lock?.close();
});

test("a check of the lock in the server's own process does not release the lock", async () => {
  const lock = await acquireServerLock(dir);
  expect(await isServerRunning(dir)).toBe(true);
  const child = spawnChild("be-server", dir);
  expect(await child.nextLine()).toBe("refused");
  child.kill();
  await child.exited;
  lock?.close();
});

test("a server that is killed leaves no lock behind", async () => {
  const child = spawnChild("be-server", dir);
  expect(await child.nextLine()).toBe("locked");
  expect(await isServerRunning(dir)).toBe(true);
  expect(await acquireServerLock(dir)).toBeNull();
  child.kill();
  await child.exited;
  expect(await isServerRunning(dir)).toBe(false);
  (await acquireServerLock(dir))?.close();
});

test("only the owner can access the data directory and its files", async () => {
  const lock = await acquireServerLock(dir);
  const db = (await openDatabase({ dataDir: dir })) as FileDatabase;
  await db.execute("CREATE TABLE t (id)");
  await db.checkpoint();
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const file of new Bun.Glob("*").scanSync({ cwd: dir })) {
    expect([file, statSync(join(dir, file)).mode & 0o777]).toEqual([file, 0o600]);
  }
  await db.close();
  lock?.close();
});

test("a data directory that cannot be created, or a file that is not a database, is refused with 5001", async () => {
  await Bun.write(join(dir, "..", "file"), "not a directory");
  await expect(openDatabase({ dataDir: join(dir, "..", "file", "data") })).rejects.toMatchObject({ code: 5001 });
  await Bun.write(
    join(dir, "bodega.db"),
    "this is no database, but it is long enough to be looked at as one".repeat(20),
  );
  await expect(openDatabase({ dataDir: dir })).rejects.toMatchObject({ code: 5001 });
});
