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
import { until } from "../support/until.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

let dir: string;
let db: FileDatabase;

const pragma = (connection: Connection, name: string) => connection.run(`PRAGMA ${name}`).rows[0]?.[0];
const fill = (count: number, size = 4000) =>
  Promise.all(Array.from({ length: count }, (_, i) => db.execute(insertRow(`fill-${i}-`.padEnd(size, "x")))));
/** Makes the WAL look as large as this, without writing to the disk. */
const swell = (bytes: number) => truncateSync(join(dir, "bodega.db-wal"), bytes);
const MiB = 1024 * 1024;

beforeEach(async () => {
  dir = makeDir();
  db = (await openDatabase({ dataDir: dir })) as FileDatabase;
  await db.execute(createTable);
});

afterEach(async () => {
  await db.close();
  rmSync(dir, { recursive: true, force: true });
});

describe("each database connection", () => {
  test("each database connection sets the pragmas that durability and checkpoints require", async () => {
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

  test("each database connection comes from the class that sets the pragmas, and the source contains only TRUNCATE checkpoints", () => {
    const root = join(import.meta.dir, "../../src");
    const sources = [...new Bun.Glob("**/*.ts").scanSync({ cwd: root })].map((path) => ({
      path,
      text: readFileSync(join(root, path), "utf8"),
    }));
    expect(sources.length).toBeGreaterThan(20);
    const opening = sources.filter(({ text }) => /new libsql\(/.test(text)).map(({ path }) => path);
    // `file-lock` opens lock files, which are not databases.
    expect(opening.toSorted()).toEqual(["local/connection", "local/file-lock"].map((n) => `server/db/${n}.ts`));
    const pragmas = sources.flatMap(({ text }) => text.match(/PRAGMA\s+(?:\w+\.)?wal_checkpoint[^"`\n]*/gi) ?? []);
    expect(pragmas).toEqual(["PRAGMA wal_checkpoint(TRUNCATE)"]);
    const automatic = sources.flatMap(({ text }) => text.match(/wal_autocheckpoint\s*=\s*\d+/gi) ?? []);
    expect(automatic).toEqual(["wal_autocheckpoint = 0"]);
    expect(sources.filter(({ text }) => /from "bun:sqlite"/.test(text))).toEqual([]);
  });
});

describe("the WAL", () => {
  test("the WAL grows until a checkpoint is requested, which empties it and loses nothing", async () => {
    await fill(600);
    expect(db.walBytes()).toBeGreaterThan(4 * MiB);
    expect(await db.checkpoint()).toBe(true);
    expect(db.walBytes()).toBe(0);
    expect((await db.execute("SELECT count(*) FROM things")).rows[0]?.[0]).toBe(600);
  });

  test("the WAL is not checkpointed while a backup holds the readers' lock", async () => {
    await fill(10);
    const backup = new FileLock(await loadLibsql(), join(dir, "bodega.db-readers"));
    expect(backup.tryShared()).toBe(true);
    expect(await db.checkpoint()).toBe(false);
    backup.close();
    expect(await db.checkpoint()).toBe(true);
  });

  test("the WAL is not emptied while another program reads, and that program's rows do not change", async () => {
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

  test("the WAL is not checkpointed while another process holds the write lock, and the event loop is not blocked", async () => {
    await db.execute(insertRow("row"));
    const child = spawnChild("hold-lock", dir);
    expect(await child.nextLine()).toBe("held");
    const attempt = db.checkpoint();
    // If SQLite waited for the lock, one of these turns would last longer than the checkpoint may wait.
    for (let turn = 0; turn < 20; turn++) await Bun.sleep(1);
    child.write("release\n");
    expect(await attempt).toBe(true);
    child.kill();
    await child.exited;
  });

  test("the WAL is emptied although another process repeatedly acquires the write lock", async () => {
    const child = spawnChild("hold-lock-again", dir);
    expect(await child.nextLine()).toBe("held");
    const emptied: boolean[] = [];
    for (let round = 0; round < 4; round++) {
      await fill(100);
      await db.execute("DELETE FROM things WHERE name LIKE 'fill-%'");
      emptied.push(await db.checkpoint());
    }
    expect(emptied).not.toContain(false);
    child.kill();
    await child.exited;
  });

  test("the WAL is emptied by the server's checkpointer when it is large, and when the server stops", async () => {
    const checkpointer = startCheckpointer(db, { everyMs: 10, walBytes: 200_000 });
    await fill(100);
    await until("an empty WAL", () => db.walBytes() === 0);
    await db.execute(insertRow("small"));
    await Bun.sleep(50);
    expect(db.walBytes()).toBeGreaterThan(0);
    await checkpointer.stop();
    expect(db.walBytes()).toBe(0);
  });

  test("the WAL is emptied soon after a failed checkpoint if it has grown; if it is small, the next attempt is later", async () => {
    const attempts = spyOn(db, "checkpoint");
    const backup = new FileLock(await loadLibsql(), join(dir, "bodega.db-readers"));
    expect(backup.tryShared()).toBe(true);
    const checkpointer = startCheckpointer(db, { everyMs: 10, walBytes: 1, pauseMs: 3_600_000 });
    await fill(1);
    await until("an attempt", () => attempts.mock.calls.length > 0);
    backup.close();
    swell(65 * MiB);
    await until("an empty WAL", () => db.walBytes() === 0);
    await checkpointer.stop();
    attempts.mockRestore();
  });

  test("the WAL is not checkpointed if the WAL cannot be read, because the engine would damage the database file", async () => {
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

  test("if the WAL is too large or its disk is full, writes wait until a checkpoint or until their deadline", async () => {
    await db.execute(insertRow("first"));
    const open = async (lockDeadlineMs?: number) =>
      (await openDatabase({
        dataDir: dir,
        hasCheckpointer: true,
        ...(lockDeadlineMs && { lockDeadlineMs }),
      })) as FileDatabase;
    const impatient = await open(50);
    swell(300 * MiB);
    await expect(impatient.execute(insertRow("refused"))).rejects.toMatchObject({ code: 5001 });
    const server = await open();
    swell(5 * MiB);
    Object.defineProperty(server.reserve, "freeBytes", { value: 0 });
    const waiting = server.execute(insertRow("waits"));
    expect(await server.checkpoint()).toBe(true);
    expect((await waiting).rowsAffected).toBe(1);
    const { rows } = await db.execute("SELECT name FROM things");
    expect(rows.map(({ name }) => name)).toEqual(["first", "waits"]);
    await Promise.all([impatient.close(), server.close()]);
  });

  test("the log has one line when the WAL's disk fails, and one when the WAL is emptied again", async () => {
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
    await until("attempts", () => attempts > 3);
    const warning =
      /^warn: the WAL \([\d.]+ KiB\) cannot be emptied and .*: The database's disk cannot be read or written\.$/;
    expect(lines).toEqual([expect.stringMatching(warning)]);
    db.checkpoint = sound;
    await until("a line", () => lines.length > 1);
    expect(lines.slice(1)).toEqual(["info: the WAL was emptied again"]);
    await checkpointer.stop();
  });

  test("the WAL is emptied by a command that has written, unless a server runs", async () => {
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

describe("the file that reserves disk space", () => {
  test("the file that reserves disk space is private, lies beside the database, and can be removed and created again", async () => {
    const { reserve } = db;
    expect(reserve.release()).toBe(false);
    await reserve.fill();
    const made = statSync(reserve.path);
    expect({ size: made.size, mode: made.mode & 0o777 }).toEqual({ size: 16 * MiB, mode: 0o600 });
    // The blocks must really be on the disk: a sparse file would reserve nothing.
    expect(made.blocks * 512).toBeGreaterThanOrEqual(made.size);
    await reserve.fill();
    expect(statSync(reserve.path).mtimeMs).toBe(made.mtimeMs);
    expect(reserve.release()).toBe(true);
    // This keeps the part that the next start needs.
    expect(reserve.bytes).toBe(MiB);
    expect(reserve.release()).toBe(false);
    await reserve.fill();
    expect(reserve.bytes).toBe(made.size);
    reserve.makeRoomToStart();
    expect(reserve.bytes).toBe(made.size);
  });
});

describe("several processes", () => {
  test("several processes write while another process checkpoints, and nothing is lost", async () => {
    const each = 100;
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
  });
});
