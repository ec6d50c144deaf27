import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { recordResult } from "../../src/server/backup/location.ts";
import { Connection } from "../../src/server/db/local/connection.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import type { AppError } from "../../src/server/errors.ts";
import { unavailable } from "../../src/server/errors.ts";
import { claimGeneration, requireNewest } from "../../src/server/replication/generation.ts";
import { getObject, putObject } from "../../src/server/replication/objects.ts";
import { describeShared } from "../../src/server/replication/place-health.ts";
import { beginRestore, rebuild } from "../../src/server/replication/rebuild.ts";
import { Replicator } from "../../src/server/replication/replicator.ts";
import type { SegmentHeader } from "../../src/server/replication/segment.ts";
import { openReplica, type ReplicaTarget } from "../../src/server/replication/target.ts";
import { failureOf } from "../support/failure.ts";
import { type S3ServerUnderTest, startS3Server } from "../support/s3-server.ts";
import { until } from "../support/until.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

let dir: string;
let folder: string;
let db: FileDatabase;
let replicator: Replicator;
let notices: string[];
let s3: S3ServerUnderTest | undefined;
const keepMs = 3_600_000;
const config = { s3: undefined, dataDir: "/nowhere", secret: "a secret of the tests, with many characters" };

const open = async () => (await openDatabase({ dataDir: dir })) as FileDatabase;

const note = (_level: string, message: string) => notices.push(message);
const onFolder = () => openReplica(folder, config);

function startReplicator(place = onFolder(), database = "ours", replaceReplica = false, dataDir = dir): Replicator {
  const options = { place, database, dataDir, version: "1", keepMs, notice: note, pollMs: 20, replaceReplica };
  replicator = new Replicator(db, options);
  replicator.begin();
  return replicator;
}

beforeEach(async () => {
  dir = makeDir();
  folder = join(makeDir(), "replica");
  notices = [];
  db = await open();
  await db.execute(createTable);
  // Now the segments contain only rows of the tests.
  await db.checkpoint();
});

afterEach(async () => {
  setSystemTime();
  await replicator.stop();
  await db.close();
  await s3?.close();
  s3 = undefined;
  for (const path of [dir, folder]) rmSync(path, { recursive: true, force: true });
});

const insert = (...rows: string[]) => Promise.all(rows.map((row) => db.execute(insertRow(row))));
const notice = (text: string) => until(text, () => notices.some((one) => one.includes(text)));
const objects = (prefix: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .sort();
const works = () => until("it works again", () => replicator.status().failure === null);
const aSegment = (count: number) => until(`${count} segments`, () => objects("segment-").length >= count);

/** Rebuilds a database from a replica, and returns its rows. */
async function rowsOf(place: ReplicaTarget = onFolder(), until?: number): Promise<string[]> {
  const path = join(makeDir(), "bodega.db");
  const options = { until, onStep: () => {}, signal: new AbortController().signal };
  await rebuild(place, path, options);
  const connection = new Connection(await loadLibsql(), path, { readOnly: true, keepFormat: true });
  try {
    expect(connection.run("PRAGMA integrity_check").rows[0]?.[0]).toBe("ok");
    return connection.run("SELECT name FROM things ORDER BY name").rows.map(({ name }) => String(name));
  } finally {
    connection.close();
  }
}

/** Creates a replica of three segments with one row each, and stops the replication. */
async function replicateThree(): Promise<string[]> {
  startReplicator();
  await notice("snapshot made");
  for (const [index, row] of ["a", "b", "c"].entries()) {
    await insert(row);
    await aSegment(index + 1);
  }
  await replicator.stop();
  return objects("segment-");
}

describe("a replica", () => {
  test("a replica contains commits that are made while its snapshot is copied and the WAL is emptied", async () => {
    const large = Array.from({ length: 400 }, (_, number) => `${number}`.padStart(4, "0").padEnd(20_000, "x"));
    await insert(...large);
    await db.checkpoint();
    startReplicator();
    const rows: string[] = [];
    while (!notices.some((one) => one.includes("snapshot made"))) {
      rows.push(`while ${rows.length}`);
      await insert(rows.at(-1) as string);
      if (rows.length % 5 === 0) await db.checkpoint();
    }
    await replicator.stop();
    expect(await rowsOf()).toEqual([...large, ...rows].sort());
  });

  test("a replica continues after a restart without a new snapshot, even if the server was killed", async () => {
    startReplicator();
    await notice("snapshot made");
    await insert("a");
    await db.checkpoint();
    await replicator.stop();
    await db.close();
    db = await open();
    startReplicator();
    await notice("goes on");
    await insert("b");
    await aSegment(2);
    // Closes without a checkpoint, as after a killed server.
    const killed = makeDir();
    for (const name of readdirSync(dir)) copyFileSync(join(dir, name), join(killed, name));
    await replicator.stop();
    await db.close();
    for (const name of ["bodega.db-wal", "bodega.db-shm"]) copyFileSync(join(killed, name), join(dir, name));
    notices = [];
    db = await open();
    await insert("c");
    startReplicator();
    await notice("goes on");
    await aSegment(3);
    await replicator.stop();
    expect(objects("snapshot-")).toHaveLength(1);
    expect(await rowsOf()).toEqual(["a", "b", "c"]);
  });

  test("a replica gets a new snapshot if the WAL was emptied while no server was running", async () => {
    await replicateThree();
    await db.checkpoint();
    await db.close();
    db = await open();
    await insert("unseen");
    await db.checkpoint();
    startReplicator();
    await notice("begins with a snapshot");
    await until("the snapshot", () => objects("snapshot-").length === 2);
    await insert("d");
    await replicator.stop();
    expect(await rowsOf()).toEqual(["a", "b", "c", "d", "unseen"]);
    // While the new snapshot is incomplete, the earlier state can be restored.
    rmSync(join(folder, objects("snapshot-").at(-1) as string));
    expect(await rowsOf()).toEqual(["a", "b", "c"]);
  });

  test("a replica can restore any moment, and a clock that was wrong for some time loses no commit", async () => {
    const place = openReplica(folder, config);
    const start = Date.parse("2026-11-22T10:00:00Z");
    const day = 86_400_000;
    let count = 0;
    const insertAt = async (row: string, time: number) => {
      setSystemTime(new Date(time));
      await insert(row);
      await aSegment(++count);
    };
    setSystemTime(new Date(start - 1000));
    startReplicator();
    await notice("snapshot made");
    await insertAt("a", start);
    await insertAt("b", start + 1000);
    await insertAt("c: a day ahead", start + day);
    await insertAt("d: set back", start + 3000);
    await replicator.stop();
    setSystemTime();
    const all = ["a", "b", "c: a day ahead", "d: set back"];
    expect(await rowsOf(place, start + 500)).toEqual(all.slice(0, 1));
    expect(await rowsOf(place, start + 2000)).toEqual(all.slice(0, 2));
    expect(await rowsOf(place, start + day + 1)).toEqual(all);
    expect(await rowsOf(place)).toEqual(all);
  });

  test("a segment contains everything that was committed up to its recorded time", async () => {
    const place = onFolder();
    const put = place.put.bind(place);
    let isAway = false;
    startReplicator({
      ...place,
      put: async (name, bytes) => {
        if (isAway) throw unavailable("away");
        await put(name, bytes);
      },
    });
    await notice("snapshot made");
    // Segments that are older than the snapshot cannot be restored.
    await insert("first");
    await aSegment(1);
    isAway = true;
    await insert("second");
    await notice("replication fails");
    const big = "x".repeat(3 * 1024 * 1024);
    const committed: [row: string, at: number][] = [];
    for (const row of ["a", "b", "c", "d"]) {
      await insert(row + big);
      committed.push([row, Date.now()]);
    }
    isAway = false;
    const end = Date.now();
    await until("all of it", () => Date.now() - replicator.status().lag_seconds * 1000 > end);
    await replicator.stop();
    const times = objects("segment-").map((name) => {
      const [header = ""] = readFileSync(join(folder, name), "latin1").split("\n", 1);
      return Date.parse(JSON.parse(header).at);
    });
    expect(times.length).toBeGreaterThan(1);
    for (const time of times) {
      const rows = (await rowsOf(onFolder(), time)).map((row) => row.charAt(0));
      const due = committed.filter(([, at]) => at < time).map(([row]) => row);
      expect(rows.filter((row) => due.includes(row)).toSorted()).toEqual(due);
    }
  }, 20_000);

  test("a replica reports the age of the state that a restore would return, even if segments arrive before their snapshot", async () => {
    startReplicator();
    await notice("snapshot made");
    await insert("a");
    await aSegment(1);
    await replicator.stop();
    await insert("unseen");
    await db.checkpoint();
    const lost = Date.now();
    const place = onFolder();
    const put = place.put.bind(place);
    let mayFinish = false;
    notices = [];
    startReplicator({
      ...place,
      put: async (name, bytes) => {
        if (name.startsWith("snapshot-") && !mayFinish) throw unavailable("away");
        await put(name, bytes);
      },
    });
    await notice("replication fails");
    await insert("b");
    await aSegment(2);
    expect(await rowsOf()).toEqual(["a"]);
    expect(replicator.status().lag_seconds).toBeGreaterThan((Date.now() - lost) / 1000);
    mayFinish = true;
    await notice("snapshot made");
    await until("no lag", () => replicator.status().lag_seconds < 0.5);
    await replicator.stop();
    expect(await rowsOf()).toEqual(["a", "b", "unseen"]);
  });

  test("a replica gets a new snapshot after a restore test has found damage", async () => {
    startReplicator();
    await notice("snapshot made");
    const at = new Date().toISOString();
    recordResult(dir, "restore-test", {
      last_failure: { at, message: "The replica is damaged: a segment is missing." },
    });
    await until("a snapshot", () => objects("snapshot-").length === 2);
    await until("it", () => notices.filter((one) => one.includes("snapshot made")).length === 2);
    expect(notices.join()).toContain("A restore test found damage");
  });

  test("if a replica lacks changes when its server stops, the log says so", async () => {
    startReplicator();
    await notice("snapshot made");
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, "");
    await insert("a");
    await replicator.stop();
    expect(notices.at(-1)).toContain("lacks the changes since");
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    startReplicator();
    await aSegment(1);
  });

  test("if a replica's directory disappears, the log says so; if its files are gone, the replica begins again", async () => {
    await replicateThree();
    notices = [];
    startReplicator();
    await notice("goes on");
    renameSync(folder, `${folder}.away`);
    await insert("d");
    await notice("replication fails");
    mkdirSync(folder);
    await notice("disappeared");
    await notice("snapshot made");
    await insert("e");
    await replicator.stop();
    expect(await rowsOf()).toEqual(["a", "b", "c", "d", "e"]);
    rmSync(`${folder}.away`, { recursive: true });
  }, 20_000);

  test("if the disk of a replica is missing at the start, the log has an error; after a start with the disk, the replica continues", async () => {
    await replicateThree();
    expect(notices.filter((one) => one.includes("is gone"))).toEqual([]);
    renameSync(folder, `${folder}.away`);
    startReplicator();
    await notice(`The replica that was in ${folder} is gone`);
    await notice("snapshot made");
    await replicator.stop();
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.away`, folder);
    notices = [];
    startReplicator();
    await notice(`replication to ${folder} goes on`);
    expect(notices.filter((one) => one.includes("is gone"))).toEqual([]);
  });

  test("a replica on the same disk as the data causes a warning", async () => {
    startReplicator();
    await notice(`The replica in ${folder} is on the disk of ${dir}`);
    expect(await describeShared(`${folder} not yet`, dir)).toContain("would be lost");
    for (const other of ["s3://bucket/shop", "/proc"]) expect(await describeShared(other, dir)).toBe("");
  });

  test("a replica of another database is refused and not changed", async () => {
    await replicateThree();
    const before = readdirSync(folder);
    startReplicator(undefined, "theirs");
    const refused = { kind: "conflict", exit: 4, message: expect.stringContaining("of another database") };
    await expect(replicator.check()).rejects.toMatchObject(refused);
    expect(await replicator.replaced).toMatchObject(refused);
    await replicator.stop();
    expect(readdirSync(folder)).toEqual(before);
  });

  test("a replica in S3 works with signed uploads, and ends a hanging upload", async () => {
    s3 = startS3Server();
    const account = { ...s3.account, endpoint: s3.url, region: "eu-central-1" };
    const place = openReplica(`s3://${s3.bucket}/shop`, { ...config, s3: account }, { timeoutMs: 500 });
    startReplicator(place);
    await notice("snapshot made");
    const released = Promise.withResolvers<void>();
    s3.hold = (call) => (call.startsWith("PUT") ? released.promise : Promise.resolve());
    await insert("a");
    await notice("replication fails");
    s3.hold = undefined;
    released.resolve();
    await works();
    await replicator.stop();
    expect(await rowsOf(place)).toEqual(["a"]);
  });
});

describe("two servers", () => {
  let others: string;
  let other: FileDatabase;

  beforeEach(async () => {
    others = makeDir();
    other = (await openDatabase({ dataDir: others })) as FileDatabase;
    await other.execute(createTable);
    await other.execute(insertRow("other"));
  });

  afterEach(() => other.close());

  const ofOther = (replaceReplica = false, dataDir = others) =>
    new Replicator(other, {
      ...{ place: onFolder(), database: "ours", dataDir, version: "1" },
      ...{ keepMs, notice: note, pollMs: 20, replaceReplica },
    });
  const refusal = (server: Replicator) => failureOf(server.check()) as Promise<AppError>;

  test("a server whose database lacks changes of the replica is refused, and the replica's server continues", async () => {
    const first = startReplicator();
    await notice("snapshot made");
    for (const count of [0, 1]) {
      const server = ofOther();
      expect(await refusal(server)).toMatchObject({ kind: "conflict", exit: 4 });
      server.begin();
      const error = await server.replaced;
      expect(error.message).toContain(`(${dir}). Its state of 2`);
      for (const text of ["--dry-run", "unset BODEGA_REPLICATE_TO", "--replace-replica"]) {
        expect(error.remedy).toContain(text);
      }
      expect(objects("generation-")).toHaveLength(1);
      await server.stop();
      if (count === 0) {
        await insert("a");
        await aSegment(1);
      }
    }
    expect(await Promise.race([first.replaced, Bun.sleep(100)])).toBeUndefined();
    await replicator.stop();
    expect(await rowsOf()).toEqual(["a"]);
  });

  test("a server restored from the newest state continues the replica, unless there is now a newer state", async () => {
    await replicateThree();
    const noteRestored = await beginRestore(onFolder());
    noteRestored(others);
    await ofOther().check();
    startReplicator();
    await notice("goes on");
    await insert("d");
    await aSegment(4);
    await replicator.stop();
    expect(await refusal(ofOther())).toMatchObject({ kind: "conflict" });
  });

  test("a server starts even if the replica's place does not answer", async () => {
    await replicateThree();
    const place = { ...onFolder(), list: () => new Promise<never>(() => {}) };
    await new Replicator(other, {
      ...{ place, database: "ours", dataDir: others, version: "1", keepMs, notice: note },
    }).check();
    expect(notices.at(-1)).toContain("did not answer for 5 s");
  }, 15_000);

  test("two servers never write to one place: the second must replace the replica explicitly, and the error of the first names the second and what to do", async () => {
    const first = startReplicator();
    await notice("snapshot made");
    await insert("a");
    await aSegment(1);
    const second = ofOther(true);
    await second.check();
    second.begin();
    const error = await first.replaced;
    expect(error).toMatchObject({ kind: "conflict", exit: 4 });
    expect(error.message).toContain(others);
    await until("the snapshot", () => objects("snapshot-").length === 2);
    await second.stop();
    expect(await rowsOf()).toEqual(["other"]);
    const kept = notices.find((one) => one.includes("keeps its earlier state")) ?? "";
    const [, at = ""] = /To restore that state: bodega db restore \S+ --at (\S+)/.exec(kept) ?? [];
    expect(await rowsOf(undefined, Date.parse(at))).toEqual(["a"]);
    // A replaced server must not claim the replica again when it starts.
    const again = await refusal(startReplicator());
    for (const { remedy } of [error, again])
      expect(remedy).toContain("start with --replace-replica to keep this database");
    expect(again.message).toContain("is not in this database");
    expect(objects("generation-")).toHaveLength(2);
  });

  test("a replaced server is refused even if the new server's machine and data directory have the same names", async () => {
    const path = join(makeDir(), "data");
    const mount = (to: string) => {
      rmSync(path, { force: true });
      symlinkSync(to, path);
    };
    mount(dir);
    const first = startReplicator(onFolder(), "ours", false, path);
    await notice("snapshot made");
    mount(others);
    const second = ofOther(true, path);
    second.begin();
    expect(await first.replaced).toMatchObject({ kind: "conflict", exit: 4 });
    await until("the snapshot", () => objects("snapshot-").length === 2);
    await second.stop();
    mount(dir);
    expect(await refusal(startReplicator(onFolder(), "ours", false, path))).toMatchObject({
      kind: "conflict",
      exit: 4,
    });
  });

  test("a late segment of the replaced server is ignored", async () => {
    const [, , last] = (await replicateThree()) as [string, string, string];
    startReplicator();
    await notice("goes on");
    await insert("d");
    await aSegment(4);
    await replicator.stop();
    // The late object has the first server's next number, in that server's generation.
    const next = last.replace(/\d+$/, (number) => `${Number(number) + 1}`.padStart(12, "0"));
    copyFileSync(join(folder, last), join(folder, next));
    expect(await rowsOf()).toEqual(["a", "b", "c", "d"]);
  });
});

describe("a restore refuses a damaged replica, names the object, and suggests the newest earlier state", () => {
  /** Returns the rows of the state that the error suggests. */
  async function offered(error: AppError): Promise<string[]> {
    const [, at = ""] = /--at (\S+)$/.exec(error.remedy ?? "") ?? [];
    return rowsOf(undefined, Date.parse(at));
  }
  const failure = () => failureOf(rowsOf()) as Promise<AppError>;
  const path = (name: string) => join(folder, name);

  test("a restore refuses a replica with a segment that is altered, truncated, in the wrong place, or missing", async () => {
    const [, second, third] = (await replicateThree()) as [string, string, string];
    const sound = readFileSync(path(second));
    for (const [damage, reason] of [
      [() => flip(path(second)), `${second} is truncated or altered`],
      [() => writeFileSync(path(second), sound.subarray(0, -10)), `${second} is truncated or altered`],
      [() => copyFileSync(path(third), path(second)), "was renamed"],
      [() => rmSync(path(second)), "is missing"],
    ] as const) {
      writeFileSync(path(second), sound);
      damage();
      const error = await failure();
      expect(error).toMatchObject({ kind: "validationFailed", exit: 1, message: expect.stringContaining(reason) });
      expect(await offered(error)).toEqual(["a"]);
    }
  });

  test("a restore refuses a replica with a segment of another database, or of another chain of the same database", async () => {
    const [, , third] = (await replicateThree()) as [string, string, string];
    const ours = folder;
    for (const [database, reason] of [
      ["theirs", "is of another database"],
      ["ours", "does not follow"],
    ] as const) {
      folder = join(makeDir(), "other");
      notices = [];
      rmSync(join(dir, "replication.json"), { force: true });
      startReplicator(undefined, database);
      await notice("snapshot made");
      for (const count of [1, 2, 3]) {
        await insert(`${database} ${count}`);
        await aSegment(count);
      }
      await replicator.stop();
      const kept = readFileSync(join(ours, third));
      copyFileSync(join(folder, third), join(ours, third));
      folder = ours;
      const error = await failure();
      expect(error.message).toContain(`${third} ${reason}`);
      expect(await offered(error)).toEqual(["a", "b"]);
      writeFileSync(join(ours, third), kept);
    }
    expect(await rowsOf()).toEqual(["a", "b", "c"]);
  });

  test("a restore refuses a replica with a damaged part of the snapshot", async () => {
    await replicateThree();
    const [part = ""] = objects("part-");
    flip(path(part));
    const error = await failure();
    expect(error.message).toContain(part);
    rmSync(path(part));
    expect((await failure()).message).toContain(part);
  });

  function flip(file: string): void {
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(file, bytes);
  }
});

describe("a replica in a place that others can write to", () => {
  const path = (name: string) => join(folder, name);
  const refusal = (place?: ReplicaTarget) => failureOf(rowsOf(place)) as Promise<AppError>;
  const stranger = () =>
    openReplica(folder, { ...config, secret: "the secret of a stranger, also with many characters" });
  const names = () => {
    const [segment, ...others] = objects("segment-").reverse() as [string, ...string[]];
    return {
      segment,
      others,
      snapshot: objects("snapshot-").at(-1) as string,
      part: objects("part-").at(-1) as string,
    };
  };
  /** Measures the largest memory that a read needs, in MiB. */
  async function memoryOf(work: () => Promise<unknown>): Promise<number> {
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before);
    }, 1);
    await work();
    clearInterval(watching);
    return Math.max(most, process.memoryUsage.rss() - before) / 2 ** 20;
  }

  test("a segment or a snapshot that a stranger wrote is refused, and the error names the object", async () => {
    await replicateThree();
    for (const name of [names().segment, names().snapshot]) {
      await putObject(stranger(), name, { format: 1 });
      const ofAnother = await refusal();
      expect(ofAnother).toMatchObject({
        kind: "wrongState",
        message: expect.stringContaining(`${name} in ${folder} is signed`),
      });
      expect(ofAnother.remedy).toContain(`db restore ${folder} --without-signature`);
      // The forged object has the fingerprint of the right key, which anyone can read.
      const { vault } = onFolder();
      const forger = { ...stranger(), vault: { ...stranger().vault, fingerprint: vault.fingerprint } };
      await putObject(forger, name, { format: 1 });
      const forged = await refusal();
      expect(forged).toMatchObject({ kind: "validationFailed", exit: 1 });
      expect(`${forged.message} ${forged.remedy}`).toMatch(
        new RegExp(`${name} is forged.*(Delete this object|db restore)`),
      );
    }
  });

  test("objects of an earlier replica are not mixed with later objects of the same names", async () => {
    await replicateThree();
    const earlier = `${folder}.earlier`;
    renameSync(folder, earlier);
    await db.checkpoint();
    await db.execute("delete from things");
    rmSync(join(dir, "replication.json"));
    notices = [];
    await replicateThree();
    expect(objects("snapshot-")).toEqual(readdirSync(earlier).filter((name) => name.startsWith("snapshot-")));
    for (const name of [...objects("snapshot-"), ...objects("part-")]) copyFileSync(join(earlier, name), path(name));
    expect(await rowsOf()).toEqual([]);
    rmSync(earlier, { recursive: true });
  });

  test("forged segments, parts and huge files need little memory, even when signatures are not checked", async () => {
    await replicateThree();
    const { segment, part } = names();
    const pages = new Uint8Array(2 ** 29);
    new DataView(pages.buffer).setUint32(0, 2 ** 18 - 300, true);
    const bomb = await Bun.zstdCompress(pages, { level: 1 });
    const unchecked = { ...onFolder(), isUnchecked: true };
    const kept = readFileSync(path(part));
    writeFileSync(path(part), bomb);
    for (const place of [onFolder(), unchecked]) {
      expect(await memoryOf(async () => expect((await refusal(place)).message).toContain(part))).toBeLessThan(100);
    }
    writeFileSync(path(part), kept);
    const { header } = (await getObject<SegmentHeader>(onFolder(), segment)) as { header: SegmentHeader };
    await putObject(stranger(), segment, { ...header, pageCount: 2 ** 31 }, bomb);
    expect(await memoryOf(async () => expect((await refusal()).message).toContain(segment))).toBeLessThan(50);
    const message = async () => expect((await refusal(unchecked)).message).toContain(`${segment} is altered`);
    expect(await memoryOf(message)).toBeLessThan(400);
    truncateSync(path(segment), 2 ** 33);
    const large = async () => expect((await refusal()).message).toContain(`${segment} has 8 GiB`);
    expect(await memoryOf(large)).toBeLessThan(50);
  }, 20_000);

  test("a forged claim with any number stops no server, is reported, and has no effect after it is deleted", async () => {
    startReplicator();
    await notice("snapshot made");
    const forged = path("generation-0000000002");
    await claimGeneration(stranger(), { database: "ours", dataDir: "/srv/theirs", generation: 2 });
    await notice("generation-0000000002 in");
    expect(await Promise.race([replicator.replaced, Bun.sleep(100)])).toBeUndefined();
    rmSync(forged);
    await works();
    await replicator.stop();
    // A forged claim of another shop must not stop the server either.
    await claimGeneration(stranger(), { database: "theirs", dataDir: "/srv/theirs", generation: 2 });
    await startReplicator().check();
    await notice("another server writes to the replica now: generation-0000000002 in");
    await replicator.stop();
    rmSync(forged);
    writeFileSync(path("generation-9999999999"), "{}");
    writeFileSync(path("segment-9999999999-000000000001"), "");
    notices = [];
    await startReplicator().check();
    await notice("generation-9999999999 is truncated or altered. Delete this object");
    rmSync(path("generation-9999999999"));
    await notice("no server claimed the generation of segment-9999999999-000000000001. Delete this object");
    expect((await refusal()).message).toContain("segment-9999999999-000000000001");
    rmSync(path("segment-9999999999-000000000001"));
    await works();
    await insert("a");
    await aSegment(1);
    await replicator.stop();
    expect(await rowsOf()).toEqual(["a"]);
  }, 20_000);

  test("the newest claim of a replica counts, even if earlier claims were deleted", async () => {
    startReplicator();
    await notice("snapshot made");
    await claimGeneration(onFolder(), { database: "ours", dataDir: "/srv/other", generation: 7 });
    await expect(requireNewest(onFolder(), 1)).rejects.toMatchObject({ kind: "conflict" });
    await expect(requireNewest(onFolder(), 7)).resolves.toBeUndefined();
  });

  test("a new key begins a new generation, and objects with the earlier key stay until they are old", async () => {
    await replicateThree();
    const at = Date.now();
    const place = openReplica(folder, { ...config, secret: "the key after bodega db rekey, with many characters" });
    notices = [];
    await startReplicator(place).check();
    await notice("begins with a snapshot");
    expect(notices.join("\n")).toContain("use the secret key of that time or add --without-signature: bodega db");
    await notice("snapshot made");
    await insert("d");
    await until("a segment", () => objects("segment-0000000002").length > 0);
    await replicator.stop();
    expect(await rowsOf(place)).toEqual(["a", "b", "c", "d"]);
    await expect(rowsOf(place, at)).rejects.toMatchObject({ kind: "wrongState" });
    expect(await rowsOf({ ...place, isUnchecked: true }, at)).toEqual(["a", "b", "c"]);
  });

  test("a server that has no replica in a place refuses objects there that are signed with another key", async () => {
    await replicateThree();
    rmSync(join(dir, "replication.json"));
    const refused = startReplicator(stranger()).check();
    await expect(refused).rejects.toMatchObject({
      kind: "conflict",
      exit: 4,
      message: expect.stringContaining("is signed with"),
    });
  });
});
