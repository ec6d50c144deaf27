import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { startCheckpointer } from "../../src/server/db/local/checkpoint.ts";
import { Connection } from "../../src/server/db/local/connection.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { acquireServerLock, FileLock } from "../../src/server/db/local/file-lock.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { unavailable } from "../../src/server/errors.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

let dir: string;
let db: FileDatabase;

const pragma = (connection: Connection, name: string) => connection.run(`PRAGMA ${name}`).rows[0]?.[0];
const fill = (count: number, size = 4000) =>
  Promise.all(Array.from({ length: count }, (_, i) => db.execute(insertRow(`fill-${i}-`.padEnd(size, "x")))));

async function waitUntil(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("It did not happen in time.");
    await Bun.sleep(10);
  }
}

beforeEach(async () => {
  dir = makeDir();
  // On a busy machine, emptying a large WAL can take longer than writes usually wait.
  db = (await openDatabase({ dataDir: dir, lockDeadlineMs: 30_000 })) as FileDatabase;
  await db.execute(createTable);
});

afterEach(async () => {
  await db.close();
  rmSync(dir, { recursive: true, force: true });
});

describe("every connection", () => {
  test("has the pragmas that durability and checkpoints depend on", async () => {
    const libsql = await loadLibsql();
    const own = new Connection(libsql, join(dir, "bodega.db"), { busyTimeoutMs: 10_000 });
    const all = { reader: db.reader.connection, writer: db.writer, own };
    for (const [name, connection] of Object.entries(all)) {
      expect({
        name,
        journal: pragma(connection, "journal_mode"),
        autocheckpoint: pragma(connection, "wal_autocheckpoint"),
        synchronous: pragma(connection, "synchronous"),
        foreignKeys: pragma(connection, "foreign_keys"),
        mmap: pragma(connection, "mmap_size"),
        temp: pragma(connection, "temp_store"),
        busy: pragma(connection, "busy_timeout"),
        queryOnly: pragma(connection, "query_only"),
      }).toEqual({
        name,
        journal: "wal",
        autocheckpoint: 0,
        synchronous: 2,
        foreignKeys: 1,
        mmap: 0,
        temp: 2,
        busy: name === "own" ? 10_000 : 0,
        queryOnly: name === "reader" ? 1 : 0,
      });
    }
    own.close();
  });

  test("is opened by the one class that sets them, and the source has no checkpoint but TRUNCATE", () => {
    const root = join(import.meta.dir, "../../src");
    const sources = [...new Bun.Glob("**/*.ts").scanSync({ cwd: root })].map((path) => ({
      path,
      text: readFileSync(join(root, path), "utf8"),
    }));
    expect(sources.length).toBeGreaterThan(20);
    const opening = sources.filter(({ text }) => /new libsql\(/.test(text)).map(({ path }) => path);
    // `file-lock` opens lock files, which are no databases.
    expect(opening.toSorted()).toEqual(["local/connection", "local/file-lock"].map((n) => `server/db/${n}.ts`));
    const pragmas = sources.flatMap(({ text }) => text.match(/PRAGMA\s+(?:\w+\.)?wal_checkpoint[^"`\n]*/gi) ?? []);
    expect(pragmas).toEqual(["PRAGMA wal_checkpoint(TRUNCATE)"]);
    const automatic = sources.flatMap(({ text }) => text.match(/wal_autocheckpoint\s*=\s*\d+/gi) ?? []);
    expect(automatic).toEqual(["wal_autocheckpoint = 0"]);
    expect(sources.filter(({ text }) => /from "bun:sqlite"/.test(text))).toEqual([]);
  });
});

describe("the WAL", () => {
  test("grows until a checkpoint is requested, which empties it and loses nothing", async () => {
    await fill(2000, 3000);
    expect(db.walBytes()).toBeGreaterThan(4 * 1024 * 1024);
    expect(await db.checkpoint()).toBe(true);
    expect(db.walBytes()).toBe(0);
    expect((await db.execute("SELECT count(*) FROM things")).rows[0]?.[0]).toBe(2000);
  });

  test("is not checkpointed while a backup holds the readers' lock, and the attempt ends at once", async () => {
    await fill(10);
    const backup = new FileLock(await loadLibsql(), join(dir, "bodega.db-readers"));
    expect(backup.tryShared()).toBe(true);
    const started = performance.now();
    expect(await db.checkpoint()).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
    backup.close();
    expect(await db.checkpoint()).toBe(true);
  });

  test("is not emptied while another program reads, whose rows stay the same", async () => {
    await fill(10);
    const stranger = new Connection(await loadLibsql(), join(dir, "bodega.db"));
    stranger.run("BEGIN");
    const count = () => stranger.run("SELECT count(*) FROM things").rows[0]?.[0];
    expect(count()).toBe(10);
    await db.execute(insertRow("one more"));
    expect(await db.checkpoint()).toBe(false);
    expect(count()).toBe(10);
    stranger.close();
    expect(await db.checkpoint()).toBe(true);
  }, 20_000);

  test("is not checkpointed while another process holds the write lock, and the event loop keeps turning", async () => {
    await db.execute(insertRow("row"));
    const child = spawnChild("hold-lock", dir, "300");
    expect(await child.nextLine()).toBe("held");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    // While the other process ends, its last read can still prevent a checkpoint.
    while (!(await db.checkpoint())) await Bun.sleep(10);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(15);
    await child.exited;
  });

  test("is emptied although another process takes the write lock again and again", async () => {
    const child = spawnChild("hold-lock-again", dir);
    expect(await child.nextLine()).toBe("held");
    const emptied: boolean[] = [];
    for (let round = 0; round < 8; round++) {
      await fill(800);
      await db.execute("DELETE FROM things WHERE name LIKE 'fill-%'");
      emptied.push(await db.checkpoint());
    }
    expect(emptied).not.toContain(false);
    child.kill();
    await child.exited;
  }, 30_000);

  test("is emptied by the server's checkpointer when it is large, and when the server stops", async () => {
    const checkpointer = startCheckpointer(db, { everyMs: 10, walBytes: 200_000 });
    await fill(100);
    await waitUntil(() => db.walBytes() === 0);
    await db.execute(insertRow("small"));
    await Bun.sleep(50);
    expect(db.walBytes()).toBeGreaterThan(0);
    await checkpointer.stop();
    expect(db.walBytes()).toBe(0);
  });

  test("is emptied soon after a failed attempt if it has grown, although attempts for a small WAL pause longer", async () => {
    const attempts = spyOn(db, "checkpoint");
    const backup = new FileLock(await loadLibsql(), join(dir, "bodega.db-readers"));
    expect(backup.tryShared()).toBe(true);
    const checkpointer = startCheckpointer(db, { everyMs: 10, walBytes: 1, pauseMs: 3_600_000 });
    await fill(1);
    await waitUntil(() => attempts.mock.calls.length > 0);
    backup.close();
    await fill(70, 1_000_000);
    await waitUntil(() => db.walBytes() === 0);
    await checkpointer.stop();
    attempts.mockRestore();
  });

  test("is not checkpointed if the disk cannot read it, because the engine would damage the file", async () => {
    await fill(200);
    const wal = join(dir, "bodega.db-wal");
    const content = readFileSync(wal);
    const attempt = db.checkpoint();
    // A directory in place of the WAL can be opened, but not read.
    renameSync(wal, `${wal}.aside`);
    mkdirSync(wal);
    await expect(attempt).rejects.toThrow("The disk cannot read the WAL.");
    rmdirSync(wal);
    renameSync(`${wal}.aside`, wal);
    expect(readFileSync(wal)).toEqual(content);
    expect(await db.checkpoint()).toBe(true);
    expect(db.walBytes()).toBe(0);
  });

  test("makes writes wait while it is too large, until a checkpoint or their deadline", async () => {
    const server = (await openDatabase({ dataDir: dir, hasCheckpointer: true, lockDeadlineMs: 5000 })) as FileDatabase;
    await server.execute(insertRow("first"));
    truncateSync(join(dir, "bodega.db-wal"), 300 * 1024 * 1024);
    await expect(server.execute(insertRow("refused"))).rejects.toMatchObject({ code: 5001 });
    const waiting = server.execute(insertRow("waits"));
    expect(await server.checkpoint()).toBe(true);
    expect((await waiting).rowsAffected).toBe(1);
    const { rows } = await db.execute("SELECT name FROM things");
    expect(rows.map(({ name }) => name)).toEqual(["first", "waits"]);
    await server.close();
  });

  test("is logged once when the disk fails, and once when it is emptied again", async () => {
    const lines: string[] = [];
    const notice = (level: string, message: string) => void lines.push(`${level}: ${message}`);
    const sound = db.checkpoint;
    let attempts = 0;
    db.checkpoint = async () => {
      attempts++;
      throw unavailable("The database's disk cannot be read or written.", { isInternal: true });
    };
    const checkpointer = startCheckpointer(db, { everyMs: 10, walBytes: 1000, pauseMs: 10, notice });
    await db.execute(insertRow("row"));
    await waitUntil(() => attempts > 3);
    const warning =
      /^warn: the WAL \([\d.]+ KiB\) cannot be emptied and .*: The database's disk cannot be read or written\.$/;
    expect(lines).toEqual([expect.stringMatching(warning)]);
    db.checkpoint = sound;
    await waitUntil(() => lines.length > 1);
    expect(lines.slice(1)).toEqual(["info: the WAL was emptied again"]);
    await checkpointer.stop();
  });

  test("is emptied by a command that has written, unless a server runs", async () => {
    const size = () => db.walBytes();
    const command = async () => {
      const other = await openDatabase({ dataDir: dir });
      await other.execute(insertRow(`command-${Math.random()}`));
      await other.close();
    };
    const lock = await acquireServerLock(dir);
    await command();
    expect(size()).toBeGreaterThan(0);
    lock?.close();
    await command();
    expect(size()).toBe(0);
  });
});

describe("the reserve of the disk", () => {
  test("is a private file beside the database, is made once, and can be freed and made again", async () => {
    const { reserve } = db;
    expect(reserve.release()).toBe(false);
    await reserve.fill();
    const made = statSync(reserve.path);
    expect({ size: made.size, mode: made.mode & 0o777 }).toEqual({ size: 16 * 1024 * 1024, mode: 0o600 });
    // The blocks must really be on the disk: a sparse file would reserve nothing.
    expect(made.blocks * 512).toBeGreaterThanOrEqual(made.size);
    await reserve.fill();
    expect(statSync(reserve.path).mtimeMs).toBe(made.mtimeMs);
    expect(reserve.release()).toBe(true);
    // Keeps the part that the next start needs.
    expect(reserve.bytes).toBe(1024 * 1024);
    expect(reserve.release()).toBe(false);
    await reserve.fill();
    expect(reserve.bytes).toBe(made.size);
    reserve.makeRoomToStart();
    expect(reserve.bytes).toBe(made.size);
  });
});

describe("several processes", () => {
  test("write while another checkpoints, and nothing is lost", async () => {
    const each = 300;
    const children = ["a", "b", "c"].map((name) => spawnChild("write", dir, name, String(each)));
    let running = true;
    const done = Promise.all(children.map((child) => child.nextLine())).finally(() => {
      running = false;
    });
    let own = 0;
    let emptied = 0;
    while (running) {
      await db.execute(insertRow(`own-${own++}`));
      if (own % 5 === 0 && (await db.checkpoint())) emptied++;
    }
    expect(await done).toEqual(["done", "done", "done"]);
    await Promise.all(children.map((child) => child.exited));
    expect(emptied).toBeGreaterThan(3);
    expect((await db.execute("SELECT count(*) FROM things")).rows[0]?.[0]).toBe(3 * each + own);
    expect((await db.execute("PRAGMA integrity_check")).rows[0]?.[0]).toBe("ok");
  }, 60_000);
});
