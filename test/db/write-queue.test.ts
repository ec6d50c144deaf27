import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isUniqueViolation } from "../../src/server/db/db-errors.ts";
import { FileDatabase, type FileDatabaseOptions } from "../../src/server/db/local/file-database.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { AppError } from "../../src/server/errors.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

let dir: string;
let db: FileDatabase;

async function open(options: FileDatabaseOptions = {}): Promise<void> {
  db = new FileDatabase(await loadLibsql(), join(dir, "bodega.db"), options);
  await db.execute(createTable);
}

async function names(): Promise<unknown[]> {
  return (await db.execute("SELECT name FROM things ORDER BY name")).rows.map((row) => row.name);
}

async function failures(promises: Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => (one.status === "rejected" ? one.reason : undefined));
}

beforeEach(() => {
  dir = makeDir();
});

afterEach(async () => {
  await db.close();
  rmSync(dir, { recursive: true, force: true });
});

test("after the process was suspended, a replicated server checks whether a standby took over before it writes", async () => {
  await open({ isReplicated: true });
  await db.execute(insertRow("before"));
  Bun.sleepSync(2100);
  const write = db.execute(insertRow("after")).then(() => "written");
  expect(await Promise.race([write, Bun.sleep(500).then(() => "waits")])).toBe("waits");
  expect(await names()).toEqual(["before"]);
  expect(await write).toBe("written");
});

test("the queue reports how many writes wait, and how long the first has waited", async () => {
  await open();
  expect([db.queue.waiting, db.queue.waitMs]).toEqual([0, 0]);
  const writes = ["one", "two"].map((name) => db.execute(insertRow(name)));
  const before = performance.now();
  while (performance.now() <= before);
  expect(db.queue.waiting).toBe(2);
  expect(db.queue.waitMs).toBeGreaterThan(0);
  expect(db.queue.waitMs).toBeLessThan(performance.now());
  await Promise.all(writes);
  expect([db.queue.waiting, db.queue.waitMs]).toEqual([0, 0]);
});

describe("group commit", () => {
  // The limit is long, because a short one could end the group before the tick's last write on a busy machine.
  const patient = { groupMs: 60_000 };

  test("writes and transactions of one tick share a commit, and transactions keep their order", async () => {
    await open(patient);
    const before = db.queue.commits;
    const order: number[] = [];
    const one = (i: number) =>
      db.transaction(async (tx) => {
        await tx.execute(insertRow(`a-${i}`));
        await tx.execute(insertRow(`b-${i}`));
        order.push(i);
      });
    const writes = Array.from({ length: 200 }, (_, i) => db.execute(insertRow(`row-${i}`)));
    await Promise.all([...writes, ...Array.from({ length: 50 }, (_, i) => one(i))]);
    expect(db.queue.commits - before).toBe(1);
    expect(await names()).toHaveLength(300);
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test("a group of writes has a limited duration, so that other processes can write", async () => {
    await open({ ...patient, maxGroup: 10 });
    const before = db.queue.commits;
    await Promise.all(Array.from({ length: 95 }, (_, i) => db.execute(insertRow(`row-${i}`))));
    expect(db.queue.commits - before).toBe(10);
  });

  test("a failing write of any kind is rolled back alone", async () => {
    await open();
    await db.execute(insertRow("taken"));
    const outcomes = await failures([
      db.execute(insertRow("good-1")),
      db.execute(insertRow("taken")),
      db.batch([insertRow("bad-1"), insertRow("taken")]),
      db.transaction(async (tx) => {
        await tx.execute(insertRow("bad-2"));
        throw new AppError("conflict");
      }),
      db.transaction((tx) => tx.execute(insertRow("good-2"))),
    ]);
    expect(outcomes.map((one) => one === undefined)).toEqual([true, false, false, false, true]);
    expect(isUniqueViolation(outcomes[1])).toBe(true);
    expect(isUniqueViolation(outcomes[2])).toBe(true);
    expect(outcomes[3]).toMatchObject({ code: 5302 });
    expect(await names()).toEqual(["good-1", "good-2", "taken"]);
  });

  test("readers see only committed writes, and see a write as soon as it is acknowledged", async () => {
    await open();
    let seenInside: unknown;
    await db.transaction(async (tx) => {
      await tx.execute(insertRow("hidden"));
      seenInside = await names();
      expect((await tx.execute("SELECT name FROM things")).rows).toHaveLength(1);
    });
    expect(seenInside).toEqual([]);
    expect(await names()).toEqual(["hidden"]);
  });

  test("no write is acknowledged before its commit", async () => {
    await open();
    const answered: number[] = [];
    const units = Array.from({ length: 20 }, (_, i) => db.execute(insertRow(`row-${i}`)).then(() => answered.push(i)));
    const seen = db.transaction(async () => answered.length);
    expect(await seen).toBe(0);
    await Promise.all(units);
    expect(answered).toHaveLength(20);
  });
});

describe("a group that cannot be committed", () => {
  test("a full disk rejects the whole group with 5001, writes nothing, and later writes work", async () => {
    await open();
    await db.execute(insertRow("before"));
    const pages = db.writer.run("PRAGMA page_count").rows[0]?.[0] as number;
    db.writer.run(`PRAGMA max_page_count = ${pages + 2}`);
    const large = (name: string) => insertRow(name + "x".repeat(6000));
    const outcomes = await failures([
      db.execute(insertRow("small")),
      ...Array.from({ length: 20 }, (_, i) => db.execute(large(`large-${i}`))),
    ]);
    expect(outcomes.filter((one) => one !== undefined).every((one) => (one as AppError).code === 5001)).toBe(true);
    const acknowledged = outcomes.filter((one) => one === undefined).length;
    expect(await names()).toHaveLength(1 + acknowledged);
    expect(acknowledged).toBeLessThan(21);
    db.writer.run("PRAGMA max_page_count = 1000000");
    await db.execute(large("after"));
    expect(await names()).toHaveLength(2 + acknowledged);
    expect((await db.execute("PRAGMA integrity_check")).rows[0]?.[0]).toBe("ok");
  });

  test("if SQLite rolls back the whole transaction, every write of the group fails, and none is committed", async () => {
    await open();
    await db.execute(
      "CREATE TRIGGER fatal BEFORE INSERT ON things WHEN NEW.name = 'fatal' BEGIN SELECT RAISE(ROLLBACK, 'over'); END",
    );
    const conflict = () => db.transaction(() => Promise.reject(new AppError("conflict")));
    const outcomes = await failures([
      conflict(),
      db.execute(insertRow("lost")),
      conflict(),
      db.execute(insertRow("fatal")),
      db.execute(insertRow("next-group")),
    ]);
    expect(outcomes.map((one) => (one as AppError | undefined)?.code).slice(0, 3)).toEqual([5302, 5001, 5001]);
    expect([outcomes[3] === undefined, outcomes[4]]).toEqual([false, undefined]);
    expect(await names()).toEqual(["next-group"]);
  });

  test("a group that cannot be committed fails with all of its writes, and the next group works", async () => {
    await open();
    await db.execute(
      "CREATE TABLE nodes (id INTEGER PRIMARY KEY, up INTEGER REFERENCES nodes(id) DEFERRABLE INITIALLY DEFERRED)",
    );
    const outcomes = await failures([db.execute(insertRow("lost")), db.execute("INSERT INTO nodes VALUES (1, 99)")]);
    expect(outcomes).toEqual([expect.objectContaining({ code: 5001 }), expect.objectContaining({ code: 5001 })]);
    await db.execute(insertRow("after"));
    expect(await names()).toEqual(["after"]);
  });
});

describe("limits of the queue", () => {
  test("a transaction that never ends is rolled back, its handle is refused, and the queue continues", async () => {
    await open({ writeTimeoutMs: 100 });
    let handle: { execute(stmt: ReturnType<typeof insertRow>): Promise<unknown> } | undefined;
    const stuck = db.transaction(async (tx) => {
      handle = tx;
      await tx.execute(insertRow("stuck"));
      await new Promise(() => {});
    });
    const next = db.execute(insertRow("next"));
    await expect(stuck).rejects.toMatchObject({ code: 5001, retryAfter: 1 });
    await next;
    await expect(handle?.execute(insertRow("late"))).rejects.toMatchObject({ code: 5001 });
    expect(await names()).toEqual(["next"]);
  });

  test("a full queue refuses at once with 5001", async () => {
    await open({ maxWaiting: 5 });
    const outcomes = await failures(Array.from({ length: 8 }, (_, i) => db.execute(insertRow(`row-${i}`))));
    expect(outcomes.map((one) => one === undefined)).toEqual([true, true, true, true, true, false, false, false]);
    expect(outcomes[7]).toMatchObject({ code: 5001, retryAfter: 1 });
  });

  test("exclusive work runs without an open transaction, before waiting writes", async () => {
    await open();
    const order: string[] = [];
    await Promise.all([
      db.execute(insertRow("a")).then(() => order.push("a")),
      db.queue.exclusive(() => {
        expect(db.writer.inTransaction).toBe(false);
        order.push("alone");
      }),
      db.execute(insertRow("b")).then(() => order.push("b")),
    ]);
    expect(order).toEqual(["alone", "a", "b"]);
  });

  test("a write whose deadline has passed is refused at once, even if more exclusive work is queued", async () => {
    await open({ lockDeadlineMs: 50 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const failing = db.queue.exclusive(() => Bun.sleep(100).then(() => Promise.reject(new Error("first"))));
    const late = db.execute(insertRow("late"));
    const next = Bun.sleep(20).then(() => db.queue.exclusive(() => held));
    const [reason] = await failures([late, failing]);
    expect(reason).toMatchObject({ code: 5001 });
    release();
    await next;
  });

  test("statements that would break the queue's own transaction are refused", async () => {
    await open();
    for (const sql of [
      "BEGIN",
      "COMMIT",
      "ROLLBACK",
      "SAVEPOINT x",
      "PRAGMA wal_checkpoint(PASSIVE)",
      "PRAGMA synchronous = OFF",
    ]) {
      await expect(db.execute(sql)).rejects.toThrow(TypeError);
    }
    await expect(db.transaction((tx) => tx.execute("COMMIT"))).rejects.toThrow(TypeError);
  });
});

describe("a lock held by another process", () => {
  test("a lock held by another process is shared fairly: a process gets turns although another process writes without a pause", async () => {
    await open();
    let isDone = false;
    let next = 0;
    // The child repeatedly holds the lock for about 50 ms, and releases it for a moment.
    const writer = async () => {
      while (!isDone) {
        await db.transaction(async (tx) => {
          await tx.execute(insertRow(`mine-${next++}`));
          await Bun.sleep(20);
        });
      }
    };
    const writers = [writer(), writer(), writer()];
    const child = spawnChild("write", dir, "theirs", "80");
    const line = await Promise.race([child.nextLine(), Bun.sleep(10_000)]);
    isDone = true;
    child.kill();
    await Promise.all([...writers, child.exited]);
    const { rows } = await db.execute(`SELECT count(*) AS mine FROM things WHERE name LIKE 'mine-%'
      AND id BETWEEN (SELECT min(id) FROM things WHERE name LIKE 'theirs-%')
        AND (SELECT max(id) FROM things WHERE name LIKE 'theirs-%')`);
    // The other process commits four rows in about the time in which this process commits three. So it cannot commit
    // 300 meanwhile.
    expect([line, Number(rows[0]?.mine) < 300]).toEqual(["done", true]);
  });

  test("a lock held by another process does not block the event loop of a process that waits for it", async () => {
    await open();
    const child = spawnChild("hold-lock", dir);
    expect(await child.nextLine()).toBe("held");
    const waiting = db.execute(insertRow("waited"));
    // If SQLite waited for the lock, one of these turns would last longer than a write may wait.
    for (let turn = 0; turn < 20; turn++) await Bun.sleep(1);
    expect(await names()).toEqual([]);
    child.write("release\n");
    await waiting;
    expect(await names()).toEqual(["waited"]);
    child.kill();
    await child.exited;
  });

  test("a lock held by another process causes 5001 after the deadline for every waiting write, and reads continue", async () => {
    await open({ lockDeadlineMs: 150 });
    const child = spawnChild("hold-lock", dir);
    expect(await child.nextLine()).toBe("held");
    const waiting = failures([db.execute(insertRow("a")), db.transaction((tx) => tx.execute(insertRow("b")))]);
    expect(await names()).toEqual([]);
    expect(await waiting).toEqual([expect.objectContaining({ code: 5001 }), expect.objectContaining({ code: 5001 })]);
    child.kill();
    await child.exited;
    await db.execute(insertRow("after"));
    expect(await names()).toEqual(["after"]);
  });
});
