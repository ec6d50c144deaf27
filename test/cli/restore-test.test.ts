import { afterEach, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { scheduleRestoreTests, startSchedule } from "../../src/server/backup/schedule.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { acquireServerLock } from "../../src/server/db/local/file-lock.ts";
import { readBirth } from "../../src/server/db/migrate.ts";
import type { Report } from "../../src/server/health/doctor.ts";
import { Replicator } from "../../src/server/replication/replicator.ts";
import { openReplica } from "../../src/server/replication/target.ts";
import { createClock } from "../support/clock.ts";
import { startS3Server } from "../support/s3-server.ts";
import { until } from "../support/until.ts";
import { command, makeDir, nextVersion, openCli } from "./run-bodega.ts";

const { dataDir, environment, here, json, failure } = openCli();
const whole = join(makeDir(), "replica");
const record = join(dataDir, "backups", "restore-test.json");
/** The replica of the current test, which tests may damage. */
let place = "";
let server: ReturnType<typeof startSchedule> | undefined;

beforeAll(async () => {
  await json("tenant", "create", "demo");
  writeFileSync(join(dataDir, "secret.key"), "a secret of the tests, with many characters", { mode: 0o600 });
  // With this lock, the next command does not empty the WAL.
  const lock = await acquireServerLock(dataDir);
  const db = (await openStoreDatabase({ dataDir })) as FileDatabase;
  const notices: string[] = [];
  const options = { dataDir, database: await readBirth(db), version: "1", keepMs: 3_600_000, pollMs: 20 };
  const notice = (_level: string, message: string) => notices.push(message);
  const replicator = new Replicator(db, {
    ...options,
    place: openReplica(whole, { s3: undefined, secret: undefined, dataDir }),
    notice,
  });
  replicator.begin();
  await until("a snapshot", () => notices.some((one) => one.includes("snapshot made")));
  await json("tenant", "create", "second");
  await until("a segment", () => readdirSync(whole).some((name) => name.startsWith("segment-")));
  await replicator.stop();
  await db.close();
  await lock?.close();
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  rmSync(record, { force: true });
  place = "";
});

function copyReplica(): string {
  place = join(makeDir(), "replica");
  cpSync(whole, place, { recursive: true });
  return place;
}

const env = () => ({ BODEGA_REPLICATE_TO: place });
const testRestore = (...words: string[]) => here(["db", "test-restore", ...words], { env: env() });
const readRecord = () => JSON.parse(readFileSync(record, "utf8"));
const leftovers = () => readdirSync(dataDir).filter((name) => name.startsWith(".restore-"));

async function doctor() {
  const { stdout } = await here(["doctor", "--json"], { env: env() });
  return (JSON.parse(stdout) as Report).findings.filter(({ check }) => check === "restore");
}

/** Starts the daily restore tests of a server, with a clock that stands still. */
function startServer(program = command) {
  const config = readConfig({ "data-dir": dataDir, "replicate-to": place }, {});
  const clock = createClock(Date.now());
  const log: string[] = [];
  const notice = (level: string, message: string) => log.push(`${level} ${message}`);
  const schedule = scheduleRestoreTests(config) as NonNullable<ReturnType<typeof scheduleRestoreTests>>;
  server = startSchedule(config, schedule, { command: program, env: environment(), notice, now: clock.now });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await server?.check();
    return log.splice(0);
  };
  return { pass, clock };
}

const minute = 60_000;
const hour = 60 * minute;

test("a restore test of an intact replica restores its newest state and leaves no files, and doctor reports the time", async () => {
  copyReplica();
  expect(await doctor()).toMatchObject([{ severity: "note", remedy: `bodega db test-restore ${place}` }]);
  const { code, stdout } = await testRestore("--json");
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, place, stores: 2 });
  expect(leftovers()).toEqual([]);
  expect(await doctor()).toMatchObject([{ severity: "note", subject: place, message: expect.stringContaining("ago") }]);
});

test("a restore test fails with the name of a damaged segment, and doctor reports this until a test succeeds", async () => {
  copyReplica();
  const segment = readdirSync(place).findLast((name) => name.startsWith("segment-")) as string;
  const bytes = readFileSync(join(place, segment));
  writeFileSync(join(place, segment), bytes.with(bytes.length - 40, (bytes.at(-40) as number) ^ 1));
  const { code, stderr } = await testRestore();
  expect(code).not.toBe(0);
  expect(stderr).toContain(segment);
  expect(await doctor()).toMatchObject([{ severity: "error", message: expect.stringContaining(segment) }]);
  expect(leftovers()).toEqual([]);
  writeFileSync(join(place, segment), bytes);
  // This success counts although no setting names the place. The same place failed before, so it comes from a flag of
  // the server.
  expect(await json("db", "test-restore", place)).toMatchObject({ place });
  expect(readRecord()).toMatchObject({ last_success: { place }, last_failure: null });
  expect(await doctor()).toMatchObject([{ severity: "note" }]);
});

test("a restore test of another shop's replica fails", async () => {
  copyReplica();
  const other = openCli(join(makeDir(), "data"));
  await other.json("tenant", "create", "other");
  cpSync(join(dataDir, "secret.key"), join(other.dataDir, "secret.key"));
  const { code, stderr } = await other.here(["db", "test-restore"], { env: env() });
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("has another database, created at"),
  });
  // Another place may contain any shop.
  expect((await other.here(["db", "test-restore", whole])).code).toBe(0);
});

test("without the secret key, a restore of a replica asks for the store's namespace, and says that no signatures were checked", async () => {
  const lost = openCli(join(makeDir(), "data"));
  const restore = (...flags: string[]) => lost.run(["db", "restore", whole, ...flags]);
  const needsKey = { code: 4, stderr: expect.stringContaining(`bodega db restore ${whole} --without-signature`) };
  expect(await restore("--yes")).toMatchObject(needsKey);
  mkdirSync(lost.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(lost.dataDir, "secret.key"), "another secret, also with many characters", { mode: 0o600 });
  expect(await restore("--yes")).toMatchObject(needsKey);
  expect(await restore("--without-signature", "--yes")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--confirm demo"),
  });
  const done = await restore("--without-signature", "--confirm", "demo");
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(`signatures in ${whole} were not checked`) });
  const { stdout } = await lost.here(["tenant", "list"]);
  for (const namespace of ["demo", "second"]) expect(stdout).toContain(namespace);
  const { code, stderr } = await lost.run(["db", "restore", join(dataDir, "bodega.db"), "--without-signature"]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("works only with a replica") });
});

test("a restore test uses the newest backup of a directory, which may have an earlier schema", async () => {
  const { backup } = await json("db", "backup");
  const folder = join(dataDir, "backups");
  expect(await json("db", "test-restore")).toMatchObject({ place: folder, stores: 2 });
  expect(await openCli(dataDir, nextVersion).json("db", "test-restore", String(backup))).toMatchObject({
    place: backup,
  });
  // Without settings, no place is tested, so nothing is recorded.
  expect(existsSync(record)).toBe(false);
  rmSync(String(backup));
  expect((await failure("db", "test-restore")).error.message).toContain("It has no backups");
});

test("a restore test reports missing disk space before it restores anything", async () => {
  copyReplica();
  const small = openCli(join(makeDir(), "data"));
  mkdirSync(small.dataDir, { mode: 0o700 });
  writeFileSync(join(small.dataDir, "bodega.db"), "");
  truncateSync(join(small.dataDir, "bodega.db"), 2 ** 43);
  const { code, stderr } = await small.here(["db", "test-restore"], { env: env() });
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("A restore test needs 8 TiB"),
  });
});

test("a replica in S3 is tested, even by an account that may only read", async () => {
  copyReplica();
  const s3 = startS3Server();
  for (const name of readdirSync(place)) s3.objects.set(`shop/${name}`, readFileSync(join(place, name)));
  s3.fail = { when: /^(PUT|DELETE)/, code: "AccessDenied" };
  expect((await here(["db", "test-restore", `s3://${s3.bucket}/shop`], { env: s3.env })).code).toBe(0);
  await s3.close();
});

test("a server that stops ends a running restore test at once; the test leaves no files and does not count as failed", async () => {
  copyReplica();
  const { pass } = startServer(["sh", "-c", "mkdir .restore-left; exec sleep 60"]);
  const done = pass(10 * minute);
  await until("the test", () => leftovers().length > 0);
  await server?.stop();
  expect({ log: await done, left: leftovers(), isNoted: existsSync(record) }).toEqual({
    log: [],
    left: [],
    isNoted: false,
  });
});

test("a server runs a restore test a day after the last successful one, even after a restart", async () => {
  copyReplica();
  const succeeded = [expect.stringContaining("succeeded")];
  const first = startServer();
  expect(await first.pass(0)).toEqual(succeeded);
  expect(await first.pass(23 * hour)).toEqual([]);
  await server?.stop();
  const second = startServer();
  expect(await second.pass(23 * hour)).toEqual([]);
  expect(await second.pass(hour)).toEqual(succeeded);
});

test("a server logs why a restore test failed and tries again after an hour; a killed test counts as failed", async () => {
  copyReplica();
  rmSync(join(place, readdirSync(place).find((name) => name.startsWith("part-")) as string));
  const { pass } = startServer();
  const failed = [expect.stringMatching(/^warn .*part-.* is missing/)];
  expect(await pass(0)).toEqual(failed);
  expect(await pass(59 * minute)).toEqual([]);
  expect(await pass(2 * minute)).toEqual(failed);
  await server?.stop();
  rmSync(record);
  const killed = startServer(["sh", "-c", "mkdir .restore-left; kill -9 $$"]);
  expect(await killed.pass(0)).toEqual([expect.stringContaining("SIGKILL")]);
  expect(readRecord().last_failure.message).toContain("SIGKILL");
  expect(leftovers()).toEqual([]);
});
