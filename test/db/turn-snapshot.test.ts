import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

let dir: string;
let db: FileDatabase;
let other: FileDatabase;

const open = async () => (await openDatabase({ dataDir: dir })) as FileDatabase;
const countThings = "SELECT count(*) FROM things";
const count = async () => (await db.execute(countThings)).rows[0]?.[0];
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(async () => {
  dir = makeDir();
  db = await open();
  await db.execute(createTable);
  other = await open();
});

afterEach(async () => {
  await db.close();
  await other.close();
  rmSync(dir, { recursive: true, force: true });
});

test("reads in one turn of the event loop see one state, and reads in the next turn see later commits", async () => {
  const version = db.dataVersion();
  expect(await count()).toBe(0);
  // The write is synchronous, so that it comes between two reads, as a write of another process can.
  other.writer.run("INSERT INTO things (name) VALUES ('theirs')");
  expect(db.dataVersion()).toBe(version);
  expect(await count()).toBe(0);
  await nextTurn();
  expect(db.dataVersion()).not.toBe(version);
  expect(await count()).toBe(1);
});

test("a caller sees its own acknowledged write in every later turn of the event loop", async () => {
  for (let i = 1; i <= 10; i++) {
    db.dataVersion();
    const written = db.execute(insertRow(`mine-${i}`));
    await count();
    db.dataVersion();
    await written;
    expect(await count()).toBe(i);
  }
});

test("the snapshots of requests never block a checkpoint", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(db.dataVersion())) });
  let isDone = false;
  const client = async () => {
    while (!isDone) await (await fetch(server.url)).text();
  };
  const clients = Array.from({ length: 8 }, client);
  for (let i = 0; i < 10; i++) {
    const written = db.execute(insertRow(`row-${i}`));
    // The checkpoint is queued after the write, so that requests arrive between the commit and the checkpoint.
    expect(await db.checkpoint()).toBe(true);
    await written;
  }
  isDone = true;
  await Promise.all(clients);
  await server.stop(true);
});

test("reads without a version do not share the snapshot of their turn", async () => {
  expect(await count()).toBe(0);
  other.writer.run("INSERT INTO things (name) VALUES ('theirs')");
  expect(await count()).toBe(1);
});

test("all reads of a batch see one state, although another process commits between them", async () => {
  const counts = await db.batch([countThings, whileOtherWrites(), countThings], "read");
  expect(counts.map(({ rows }) => rows[0]?.[0])).toEqual([0, 0, 0]);
  await nextTurn();
  expect(await count()).toBe(1);
  // The batch uses the snapshot of its turn and does not close it.
  db.dataVersion();
  expect(await count()).toBe(1);
  const later = await db.batch([whileOtherWrites(), countThings], "read");
  expect(later.map(({ rows }) => rows[0]?.[0])).toEqual([1, 1]);
  expect(await count()).toBe(1);
  await nextTurn();
  expect(await count()).toBe(2);
});

/** Counts rows after another connection has committed a row. */
function whileOtherWrites() {
  let isWritten = false;
  return {
    args: [],
    get sql() {
      if (!isWritten) other.writer.run("INSERT INTO things (name) VALUES (hex(randomblob(8)))");
      isWritten = true;
      return countThings;
    },
  };
}
