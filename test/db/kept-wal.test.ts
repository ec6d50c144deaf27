import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeKeptWals, preserveCorruptWal } from "../../src/server/db/local/kept-wal.ts";
import { lockExclusive } from "../../src/server/db/local/open-file-lock.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

const [headerBytes, frameBytes] = [32, 24 + 4096];

let dir: string;
/** The directory of a database whose WAL has many commits, as after a killed process. */
let killed: string;
let copies = 0;

beforeEach(async () => {
  dir = makeDir();
  killed = join(dir, "killed");
  const child = spawnChild("write-until-killed", killed);
  let last: string | undefined;
  for (let count = 0; count < 60; count++) last = await child.nextLine();
  expect(last).toStartWith("row-");
  child.kill();
  await child.exited;
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Copies the database, with a changed WAL. */
function copyWith(change: (wal: Buffer, frames: number) => Buffer) {
  const dataDir = join(dir, `copy-${++copies}`);
  mkdirSync(dataDir);
  const path = join(dataDir, "bodega.db");
  copyFileSync(join(killed, "bodega.db"), path);
  const wal = readFileSync(join(killed, "bodega.db-wal"));
  const frames = Math.floor((wal.length - headerBytes) / frameBytes);
  const changed = change(wal, frames);
  writeFileSync(`${path}-wal`, changed);
  return { dataDir, path, changed, frames };
}

/** Changes one bit of a frame's page. Frames are counted from 1. */
function flip(wal: Buffer, frame: number): Buffer {
  const at = headerBytes + (frame - 1) * frameBytes + 2000;
  wal.writeUInt8(wal.readUInt8(at) ^ 1, at);
  return wal;
}

const commitsFrom = (wal: Buffer, frame: number) => {
  let commits = 0;
  for (let at = headerBytes + (frame - 1) * frameBytes; at + frameBytes <= wal.length; at += frameBytes) {
    if (wal.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
};

async function readNames(dataDir: string): Promise<unknown[]> {
  const db = await openDatabase({ dataDir });
  const { rows } = await db.execute("select name from things");
  await db.close();
  return rows.map(({ name }) => name);
}

const keptIn = (dataDir: string) => readdirSync(dataDir).filter((name) => name.includes("damaged"));

test("a WAL with damage in the middle is copied once, and the commits after the damage are counted", async () => {
  const whole = await readNames(copyWith((wal) => wal).dataDir);
  let commits = 0;
  const middle = copyWith((wal, frames) => {
    commits = commitsFrom(wal, Math.floor(frames / 2) + 1);
    return flip(wal, Math.floor(frames / 2));
  });
  const damaged = Math.floor(middle.frames / 2);
  const names = await readNames(middle.dataDir);
  expect(names.length).toBeLessThan(whole.length);
  const [kept = ""] = keptIn(middle.dataDir);
  expect(kept).toMatch(/^bodega\.db-wal\.damaged-\d+$/);
  expect(readFileSync(join(middle.dataDir, kept)).equals(middle.changed)).toBe(true);
  const [found] = describeKeptWals(middle.path);
  expect(found?.message).toMatch(
    new RegExp(`at frame ${damaged}: \\d+ valid frames with ${commits} commits lie behind`),
  );
  expect(commits).toBeGreaterThan(1);
  // A second start does not copy the WAL again, and does not change the copy.
  await readNames(middle.dataDir);
  writeFileSync(`${middle.path}-wal`, middle.changed);
  await readNames(middle.dataDir);
  expect(keptIn(middle.dataDir)).toEqual([kept]);
}, 20_000);

test("a damaged header of a WAL counts as damage, and a restore also keeps the WAL of the database that it replaces", async () => {
  for (const damage of [
    (wal: Buffer) => void wal.writeUInt8(wal.readUInt8(26) ^ 1, 26),
    // Changes the salt, which all frames repeat.
    (wal: Buffer) => void wal.writeUInt8(wal.readUInt8(18) ^ 1, 18),
    (wal: Buffer) => void wal.fill(0, 0, headerBytes),
  ]) {
    const { path, dataDir } = copyWith((wal) => {
      damage(wal);
      return wal;
    });
    (await lockExclusive(path)).close();
    expect(keptIn(dataDir).length).toBe(1);
    expect(describeKeptWals(path)[0]?.message).toContain("damaged at frame 0");
  }
});

test("if the database of a WAL is missing, no new database is created, and the WAL is kept", async () => {
  for (const lose of [(path: string) => rmSync(path), (path: string) => truncateSync(path, 0)]) {
    const { path, dataDir, changed } = copyWith((wal) => wal);
    lose(path);
    const message = `${path} is missing or empty, but bodega.db-wal beside it has the last writes.`;
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      message,
      remedy: expect.stringContaining("restore"),
    });
    expect(readFileSync(`${path}-wal`).equals(changed)).toBe(true);
    copyFileSync(join(killed, "bodega.db"), path);
    expect((await readNames(dataDir)).length).toBeGreaterThan(50);
  }
});

test("an intact WAL, and a WAL that ends in the middle of a write, are not copied", async () => {
  const sound = copyWith((wal) => wal);
  const cut = copyWith((wal, frames) => wal.subarray(0, headerBytes + frames * frameBytes - 100));
  const last = copyWith((wal, frames) => flip(wal, frames));
  const empty = copyWith((wal) => wal);
  truncateSync(`${empty.path}-wal`, 0);
  for (const { dataDir } of [sound, cut, last, empty]) {
    await readNames(dataDir).catch(() => []);
    expect(keptIn(dataDir)).toEqual([]);
  }
});

test("a WAL that another process removes before it is read does not count as damage", () => {
  preserveCorruptWal(join(dir, "bodega.db"));
  expect(readdirSync(dir)).toEqual(["killed"]);
});
