// A child process for tests: `bun child.ts <role> <data-dir> [...]`. It prints lines to standard output.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { loadDatabase } from "../../src/server/backup/restore/load-server.ts";
import { replaceFile } from "../../src/server/backup/restore/replace-file.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { acquireServerLock } from "../../src/server/db/local/file-lock.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createTable, insertRow, testMigrations } from "./fixtures.ts";

const [what, dataDir = "", ...rest] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const forever = () => new Promise(() => setInterval(() => {}, 1000));

/** Holds the write lock until a line of input arrives. */
async function holdLock(): Promise<void> {
  const db = (await openDatabase({ dataDir })) as FileDatabase;
  await db.queue.exclusive(async () => {
    await db.queue.beginExclusive();
    say("held");
    for await (const _ of console) break;
    db.writer.run("ROLLBACK");
  });
  await forever();
}

/** Repeatedly acquires and releases the write lock. */
async function holdLockAgain(): Promise<void> {
  const db = await openDatabase({ dataDir, lockDeadlineMs: 30_000 });
  for (let count = 0; ; count++) {
    await db.transaction(async (tx) => {
      await tx.execute(insertRow(`again-${count}`));
      if (count === 0) say("held");
      await Bun.sleep(60);
    });
  }
}

/** Writes rows from a few concurrent writers. */
async function write(name: string, count: number): Promise<void> {
  const db = await openDatabase({ dataDir, lockDeadlineMs: 30_000 });
  let next = 0;
  const writer = async () => {
    while (next < count) await db.execute(insertRow(`${name}-${next++}`));
  };
  await Promise.all([writer(), writer(), writer(), writer()]);
  await db.close();
  say("done");
}

/** Writes rows until the process ends. Prints the name of each row when its write is acknowledged. */
async function writeUntilKilled(): Promise<void> {
  const db = await openDatabase({ dataDir });
  await db.execute(createTable);
  say("ready");
  let next = 0;
  const writer = async () => {
    for (;;) {
      const name = `row-${next++}`;
      if (next % 3 === 0) await db.transaction((tx) => tx.execute(insertRow(name)));
      else await db.execute(insertRow(name));
      say(name);
    }
  };
  await Promise.all(Array.from({ length: 16 }, writer));
}

/** For each line of input, creates and migrates a database in this directory, and prints the applied migrations. */
async function migrateOnRequest(): Promise<void> {
  await loadLibsql();
  say("ready");
  for await (const name of console) {
    const db = await openDatabase({ dataDir: join(dataDir, name), lockDeadlineMs: 30_000 });
    say(JSON.stringify((await migrate(db, testMigrations)).applied));
    await db.close();
  }
}

/** Replaces the database by the prepared database. Kills itself after this many steps. */
async function replace(steps: number): Promise<void> {
  const newPath = join(dataDir, ".restore-x", "bodega.db");
  let left = steps;
  const onStep = () => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
  };
  onStep();
  await replaceFile({ dataDir, path: join(dataDir, "bodega.db"), newPath, now: new Date(), onStep });
  say("done");
}

async function holdOpen(): Promise<void> {
  await openDatabase({ dataDir });
  say("open");
  await forever();
}

async function beServer(): Promise<void> {
  say((await acquireServerLock(dataDir)) === null ? "refused" : "locked");
  await forever();
}

/** Loads a part of a file into a server's database, prints a line, and waits. */
async function loadHalf(source: string, url: string): Promise<void> {
  const db = await openDatabase({ dataDir, url });
  await loadDatabase(source, db, {
    onProgress(done, total) {
      if (done === 0 || done === total) return;
      writeSync(1, "half\n");
      Bun.sleepSync(60_000);
    },
  });
}

const roles: Record<string, () => Promise<void>> = {
  "hold-lock": holdLock,
  "hold-lock-again": holdLockAgain,
  write: () => write(rest[0] ?? "", Number(rest[1])),
  "write-until-killed": writeUntilKilled,
  migrate: migrateOnRequest,
  "be-server": beServer,
  replace: () => replace(Number(rest[0])),
  "hold-open": holdOpen,
  "load-half": () => loadHalf(rest[0] ?? "", rest[1] ?? ""),
};
await roles[what ?? ""]?.();
