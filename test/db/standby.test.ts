import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../src/server/config/config.ts";
import { copyFile } from "../../src/server/config/data-dir.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { migrate, readBirth } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { getObject } from "../../src/server/replication/objects.ts";
import { Replicator } from "../../src/server/replication/replicator.ts";
import { decodeSegment, type SegmentHeader } from "../../src/server/replication/segment.ts";
import { readStandbyState, Standby } from "../../src/server/replication/standby.ts";
import { takeOver } from "../../src/server/replication/take-over.ts";
import { openReplica, type ReplicaTarget } from "../../src/server/replication/target.ts";
import { openCli } from "../cli/run-bodega.ts";
import { until } from "../support/until.ts";
import { makeDir } from "./kinds.ts";

/** A long text, which puts each row in a page of its own. */
const filler = "x".repeat(1500);

let dir: string;
let folder: string;
let copies: string;
let db: FileDatabase;
let replicator: Replicator;
let notices: string[];
let following: { stop: () => Promise<void> } | undefined;

const open = async (dataDir: string) => (await openDatabase({ dataDir })) as FileDatabase;
const secret = "a secret of the tests, with many characters";
const config = () => ({ dataDir: copies, secret, s3: undefined }) as unknown as Config;
const place = () => openReplica(folder, config());
const notice = (_level: string, message: string) => notices.push(message);

async function startReplicator(dataDir = dir, database = db): Promise<void> {
  const options = { dataDir, version: "1", keepMs: 3_600_000, notice, pollMs: 20 };
  replicator = new Replicator(database, { ...options, place: place(), database: await readBirth(database) });
  replicator.begin();
}

function follow(from: ReplicaTarget = place()): Standby {
  const stop = new AbortController();
  const standby = new Standby(from, { config: config(), notice, signal: stop.signal, pollMs: 20 });
  const running = standby.run("http://localhost");
  const end = async () => {
    stop.abort();
    await running;
    following = undefined;
  };
  following = { stop: end };
  return standby;
}

const promote = async (pollMs = 0) => takeOver(config(), { notice, signal: new AbortController().signal, pollMs });
const said = (text: string) => until(text, () => notices.some((one) => one.includes(text)));
const insertInto = (database: FileDatabase, key: string) =>
  database.execute({ sql: "insert into rate_limits values (?, ?, 0)", args: [key, filler] });
const objects = (prefix: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .sort();

/** Waits until the copy has the last segment of the replica. */
async function caughtUp(): Promise<void> {
  await until("the copy", () => {
    const [, generation, sequence] = /-(\d+)-(\d+)$/.exec(objects("segment-").at(-1) ?? "") ?? [];
    const state = readStandbyState(copies)?.state;
    return state?.generation === Number(generation) && state.sequence === Number(sequence);
  });
}

/** Writes a row, and waits until it is in the replica. */
async function send(row: string): Promise<void> {
  await insertInto(db, row);
  const at = Date.now();
  await until("a segment", () => Date.now() - replicator.status().lag_seconds * 1000 > at);
}

/** Promotes the copy and checks its pages. Returns its rows. */
async function promotedRows(): Promise<string[]> {
  await promote();
  const promoted = await open(copies);
  try {
    const { rows: verdict } = await promoted.execute("pragma integrity_check");
    expect(verdict[0]?.[0]).toBe("ok");
    const { rows } = await promoted.execute("select key from rate_limits order by key");
    return rows.map(({ key }) => String(key));
  } finally {
    await promoted.close();
  }
}

/** The file of a migrated database, which each test copies. */
const migrated = join(makeDir(), "bodega.db");

beforeAll(async () => {
  const db = await open(dirname(migrated));
  await migrate(db);
  await db.checkpoint();
  await db.close();
});

beforeEach(async () => {
  [dir, copies] = [makeDir(), makeDir()];
  folder = join(makeDir(), "replica");
  notices = [];
  copyFileSync(migrated, join(dir, "bodega.db"));
  db = await open(dir);
  await startReplicator();
});

afterEach(async () => {
  await following?.stop();
  await replicator.stop();
  await db.close();
  for (const path of [dir, copies, folder]) rmSync(path, { recursive: true, force: true });
});

describe("a standby", () => {
  test("a standby restores once, marks its copy while it applies a segment, and takes over with all changes of the replica", async () => {
    await insertInto(db, "before");
    await said("snapshot made");
    const standby = follow();
    await said("was restored");
    const marks: unknown[] = [];
    const watching = setInterval(() => marks.push(readStandbyState(copies)?.isApplying), 0);
    for (const row of ["a", "b", "c"]) {
      await send(row);
      await until("a checkpoint", () => db.checkpoint());
    }
    await caughtUp();
    clearInterval(watching);
    expect([marks.includes(true), readStandbyState(copies)?.isApplying]).toEqual([true, false]);
    await until("the lag", () => (standby.describe().lagSeconds ?? 9) < 1);
    await following?.stop();
    await send("last");
    expect(await promotedRows()).toEqual(["a", "b", "before", "c", "last"]);
    expect(notices.filter((one) => one.includes("was restored"))).toHaveLength(1);
    expect(readdirSync(copies).filter((name) => name.startsWith("standby"))).toEqual([]);
    // The promoted server continues without a new snapshot, and the previous server ends.
    const first = replicator;
    const promoted = await open(copies);
    await startReplicator(copies, promoted);
    await said("goes on");
    expect(await first.replaced).toMatchObject({ kind: "conflict", exit: 4 });
    await Promise.all([first.stop(), replicator.stop()]);
    await promoted.close();
    expect(objects("snapshot-")).toHaveLength(1);
  });

  test("a standby with only the first snapshot makes a new copy if the next generation begins with a snapshot of the same number", async () => {
    // The WAL is empty, so the replica has only the snapshot.
    await said("snapshot made");
    await replicator.stop();
    await db.checkpoint();
    rmSync(folder, { recursive: true });
    notices = [];
    await startReplicator();
    await said("snapshot made");
    expect(objects("segment-")).toEqual([]);
    const numbers = () => objects("snapshot-").map((name) => name.slice(-12));
    follow();
    await said("was restored");
    await replicator.stop();
    const unseen = Array.from({ length: 9 }, (_, index) => `unseen ${index}`);
    for (const row of unseen) await insertInto(db, row);
    await db.checkpoint();
    await startReplicator();
    await until("a snapshot", () => numbers().length === 2);
    expect(numbers()).toEqual(["000000000001", "000000000001"]);
    await send("zzz after");
    await caughtUp();
    await following?.stop();
    expect(await promotedRows()).toEqual([...unseen, "zzz after"]);
  }, 20_000);

  test.each(["goes on", "begins with a snapshot"])(
    "a standby with a segment that another server has replaced makes a new copy (%s)",
    async (how) => {
      await said("snapshot made");
      await send("a");
      // The second server starts with the present state of the replica.
      const standbys = [copies, makeDir()] as const;
      for (const one of standbys) {
        copies = one;
        follow();
        await caughtUp();
        await following?.stop();
      }
      await promote();
      const second = copies;
      copies = standbys[0];
      await send("lost");
      await replicator.stop();
      follow();
      await caughtUp();
      await following?.stop();
      rmSync(join(folder, objects("segment-").at(-1) as string));
      const known = JSON.parse(readFileSync(join(second, "replication.json"), "utf8"));
      if (how !== "goes on") known.file.size = 0;
      writeFileSync(join(second, "replication.json"), JSON.stringify(known));
      const other = await open(second);
      await startReplicator(second, other);
      await said(how);
      if (how !== "goes on") await until("its snapshot", () => objects("snapshot-").length === 2);
      await insertInto(other, "b");
      await until("a segment", () => objects("segment-").at(-1)?.startsWith("segment-0000000003"));
      await replicator.stop();
      await other.close();
      follow();
      await caughtUp();
      await following?.stop();
      expect(await promotedRows()).toEqual(["a", "b"]);
    },
    20_000,
  );

  test("a standby that was killed while it applied a segment makes a new copy", async () => {
    await said("snapshot made");
    for (const row of ["a", "b"]) await send(row);
    follow();
    await caughtUp();
    await following?.stop();
    // Erases the first page that the last segment changes, as if the copy had not yet applied this segment.
    const last = objects("segment-").at(-1) as string;
    const { numbers } = await decodeSegment(await getObject<SegmentHeader>(place(), last), last);
    const copy = openSync(copyFile(copies), "r+");
    writeSync(copy, new Uint8Array(4096), 0, 4096, ((numbers[0] as number) - 1) * 4096);
    const state = JSON.parse(readFileSync(join(copies, "standby.json"), "utf8"));
    writeFileSync(join(copies, "standby.json"), JSON.stringify({ ...state, isApplying: true }));
    expect(await promotedRows()).toEqual(["a", "b"]);
  });

  test("if a new replica is started in a standby's place, the standby makes a new copy, and can take over", async () => {
    await said("snapshot made");
    for (const row of ["a", "b", "c"]) await send(row);
    follow();
    await caughtUp();
    await replicator.stop();
    rmSync(folder, { recursive: true });
    // Generations begin with 1 again, as after a restore.
    rmSync(join(dir, "replication.json"));
    await said("no longer in");
    notices = [];
    await startReplicator();
    await said("a new replica was started");
    await said("was restored");
    await send("d");
    await caughtUp();
    await following?.stop();
    expect(await promotedRows()).toEqual(["a", "b", "c", "d"]);
  });

  test("a standby does not follow another shop's replica, and says how to follow it", async () => {
    await said("snapshot made");
    follow();
    await said("was restored");
    await replicator.stop();
    rmSync(folder, { recursive: true });
    const other = makeDir();
    const others = await open(other);
    await migrate(others);
    await startReplicator(other, others);
    await said("has the replica of another shop");
    expect(notices.join()).toContain("start a standby with an empty --data-dir");
    await expect(promote()).rejects.toMatchObject({ kind: "wrongState" });
    await replicator.stop();
    await others.close();
  });

  test("a standby refuses an object that its server did not write; the error names the object and says what to do", async () => {
    await said("snapshot made");
    const standby = follow();
    await send("a");
    await caughtUp();
    await replicator.stop();
    const next = join(
      folder,
      (objects("segment-").at(-1) as string).replace(/\d$/, (digit) => `${Number(digit) + 1}`),
    );
    writeFileSync(next, "not a segment");
    const what = `${basename(next)} is truncated or altered. Delete this object`;
    await said(what);
    await until("the health check", () => standby.describe().message.includes(what));
    await expect(promote()).rejects.toMatchObject({ kind: "validationFailed" });
    rmSync(next);
    await until("the copy", () => (standby.describe().lagSeconds ?? 9) < 1);
    await following?.stop();
    expect(await promotedRows()).toEqual(["a"]);
  }, 20_000);

  test("a standby waits for a replica; while the replica's place cannot be read, the standby reports this and its lag grows", async () => {
    await said("snapshot made");
    renameSync(folder, `${folder}.away`);
    const standby = follow();
    await said("State not found");
    expect(standby.describe().lagSeconds).toBeUndefined();
    rmSync(folder, { recursive: true, force: true });
    renameSync(`${folder}.away`, folder);
    await said("was restored");
    await send("a");
    await caughtUp();
    await replicator.stop();
    // The place disappears, like the directory of an unmounted disk.
    renameSync(folder, `${folder}.away`);
    mkdirSync(folder);
    await said("no longer in");
    await until("the lag", () => (standby.describe().lagSeconds ?? 0) > 1);
    await expect(promote()).rejects.toMatchObject({ kind: "unavailable" });
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.away`, folder);
    await until("the lag", () => (standby.describe().lagSeconds ?? 9) < 1);
  }, 30_000);
});

describe("the directory of a standby", () => {
  const copied = async () => {
    await said("snapshot made");
    follow();
    await send("a");
    await caughtUp();
    await following?.stop();
  };

  test("the directory of a standby cannot be opened by another command until the standby takes over, even after an interrupted takeover", async () => {
    await copied();
    await expect(open(copies)).rejects.toMatchObject({ kind: "wrongState" });
    expect(existsSync(join(copies, "bodega.db"))).toBe(false);
    const marker = readFileSync(join(copies, "standby.json"));
    await promote();
    // The takeover is interrupted before and after the copy gets its final name.
    renameSync(join(copies, "bodega.db"), copyFile(copies));
    for (const _ of ["before", "after"]) {
      writeFileSync(join(copies, "standby.json"), marker);
      expect(await promotedRows()).toEqual(["a"]);
    }
    const promoted = await open(copies);
    await replicator.stop();
    await startReplicator(copies, promoted);
    await said("goes on");
    await replicator.stop();
    await promoted.close();
  });

  test("a standby that cannot write to the replica's place stays a standby, and the old server continues", async () => {
    await copied();
    const marker = objects("generation-");
    // The object cannot be created, as with an account that has only read access.
    mkdirSync(join(folder, ".generation-0000000002.partial"));
    await expect(promote()).rejects.toMatchObject({ kind: "unavailable" });
    expect({ found: objects("generation-"), isCopy: existsSync(copyFile(copies)) }).toEqual({
      found: marker,
      isCopy: true,
    });
    await send("b");
    rmSync(join(folder, ".generation-0000000002.partial"), { recursive: true });
    expect(await promotedRows()).toEqual(["a", "b"]);
  });

  test("a standby does not take over without the secret key, for another place, or with another database", async () => {
    await copied();
    const withoutKey = takeOver({ ...config(), secret: undefined }, { notice, signal: new AbortController().signal });
    await expect(withoutKey).rejects.toMatchObject({ kind: "wrongState", remedy: expect.stringContaining(copies) });
    const elsewhere = takeOver(
      { ...config(), replicateTo: "/elsewhere" },
      { notice, signal: new AbortController().signal },
    );
    await expect(elsewhere).rejects.toMatchObject({ kind: "validationFailed" });
    writeFileSync(join(copies, "bodega.db"), "a shop");
    await expect(promote()).rejects.toThrow("database of its own");
    expect(readFileSync(join(copies, "bodega.db"), "utf8")).toBe("a shop");
  });

  test("db restore turns the directory of a standby into that of a server, as promote suggests for a damaged replica; the copy is kept", async () => {
    await copied();
    await send("b");
    await send("c");
    await replicator.stop();
    rmSync(join(folder, objects("segment-").at(-2) as string));
    const error = await promote().catch((error) => error);
    const [, at = ""] = /db restore \S+ --at (\S+)$/.exec(error.remedy) ?? [];
    const { json } = openCli(copies);
    writeFileSync(join(copies, "secret.key"), secret, { mode: 0o600 });
    await json("db", "restore", folder, "--at", at, "--dry-run");
    expect(readdirSync(copies)).toContain("standby.json");
    const { kept, warnings } = await json<{ kept: string; warnings: unknown[] }>(
      "db",
      "restore",
      folder,
      "--at",
      at,
      "--yes",
    );
    expect(warnings).toEqual([expect.stringContaining("a standby's directory")]);
    expect(existsSync(kept)).toBe(true);
    expect(readdirSync(copies).filter((name) => name.startsWith("standby."))).toEqual([]);
    const restored = await open(copies);
    expect((await restored.execute("select key from rate_limits")).rows.map(({ key }) => key)).toEqual(["a"]);
    await restored.close();
  });

  test("a promoted standby has all changes that the server sent, even those after the standby had claimed the replica", async () => {
    await copied();
    const promoting = promote(400);
    await until("the claim", () => objects("generation-").length === 2);
    for (const row of ["b", "c"]) await insertInto(db, row);
    expect(await replicator.replaced).toMatchObject({ kind: "conflict", exit: 4 });
    await insertInto(db, "d");
    await replicator.stop();
    await promoting;
    expect(notices.join()).toMatch(/[1-9] segments were applied/);
    expect(await promotedRows()).toEqual(["a", "b", "c", "d"]);
  });

  test("if two standbys take over at once, one of them stays a standby", async () => {
    await copied();
    const [first, second] = [copies, makeDir()];
    copies = second;
    follow();
    await caughtUp();
    await following?.stop();
    copies = first;
    const refused = promote(700).catch((error: unknown) => error);
    await until("the claim", () => objects("generation-").length === 2);
    copies = second;
    await promote();
    expect(await refused).toMatchObject({ kind: "conflict", exit: 4 });
    expect(readStandbyState(first)).toBeDefined();
    expect(existsSync(copyFile(first))).toBe(true);
    expect(readStandbyState(second)).toBeUndefined();
  });
});
