import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import { openStorage } from "../../src/server/object-store/open-storage.ts";
import { failureOf } from "../support/failure.ts";
import { startS3Server } from "../support/s3-server.ts";
import { until } from "../support/until.ts";
import { copyWithFiller } from "./large-database.ts";
import { command, makeDir, openCli } from "./run-bodega.ts";

const s3 = startS3Server();
const { dataDir, environment, json, here, run: runAlone } = openCli();
const at = `s3://${s3.bucket}/shops/one`;

/** The directory of a database whose backup is so large that it is uploaded in parts. */
let large: string;

beforeAll(async () => {
  await json("tenant", "create", "demo");
  large = await copyWithFiller(dataDir, 18);
});
afterAll(() => s3.close());
afterEach(() => {
  Object.assign(s3, { fail: undefined, hold: undefined });
  s3.objects.clear();
  s3.calls.length = 0;
});

// Each restore needs its own process, because no other command can use the database until that process ends.
const run = (args: string[], env: Record<string, string> = {}, from = dataDir) =>
  (args[0] === "restore" ? runAlone : here)(["db", ...args], { env: { BODEGA_DATA_DIR: from, ...s3.env, ...env } });

test("a backup on S3 is one object that can be restored, and --keep removes older backups of this database", async () => {
  s3.objects.set("shops/one/notes.txt", Buffer.from("mine"));
  s3.objects.set("shops/one/bodega-20200101T000000.000Z.tar.gz", Buffer.from("no backup"));
  const made: string[] = [];
  for (let count = 0; count < 2; count++) {
    const { code, stdout, stderr } = await run(["backup", "--to", at, "--keep", "1", "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    made.push(JSON.parse(stdout).backup);
  }
  const [first = "", second = ""] = made.map((address) => address.replace(`s3://${s3.bucket}/`, ""));
  expect([...s3.objects.keys()].toSorted()).toEqual(
    ["shops/one/notes.txt", "shops/one/bodega-20200101T000000.000Z.tar.gz", second].toSorted(),
  );
  expect(first).not.toBe(second);
  const target = join(makeDir(), "data");
  expect((await run(["restore", made[1] as string, "--yes"], {}, target)).code).toBe(0);
  expect(await openCli(target).json<unknown>("tenant", "list")).toMatchObject([{ namespace: "demo" }]);
});

test("an S3 account that may only write can make backups", async () => {
  s3.fail = { when: /^(GET|HEAD|DELETE|POST)/, code: "AccessDenied" };
  const { code, stdout } = await run(["backup", "--to", at, "-q"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `s3://${s3.bucket}/${[...s3.objects.keys()]}\n` });
});

test("an error of the S3 service is reported with its code, without credentials, and leaves no object", async () => {
  const wrongSecret = "not-the-secret-of-this-account";
  s3.fail = { when: /^PUT/, code: "AccessDenied" };
  const denied = await run(["backup", "--to", at]);
  s3.fail = undefined;
  for (const [outcome, code, words] of [
    [denied, 4, "AccessDenied"],
    [await run(["backup", "--to", at], { BODEGA_S3_SECRET_ACCESS_KEY: wrongSecret }), 4, "SignatureDoesNotMatch"],
    [await run(["backup", "--to", at], { BODEGA_S3_ENDPOINT: "http://127.0.0.1:1" }), 4, "cannot be reached"],
    [await run(["backup", "--to", "s3://elsewhere/shops"]), 4, "the bucket does not exist"],
    [await run(["restore", `${at}/none.tar.gz`, "--yes"]), 3, "Backup "],
    [await run(["restore", at, "--dry-run"]), 2, "is a directory, not a backup"],
  ] as const) {
    expect({ code: outcome.code, words: outcome.stderr }).toEqual({ code, words: expect.stringContaining(words) });
    const all = outcome.stdout + outcome.stderr;
    for (const secret of [s3.account.accessKeyId, s3.account.secretAccessKey, wrongSecret])
      expect(all).not.toContain(secret);
  }
  expect([...s3.objects.keys()]).toEqual([]);
  expect(readdirSync(join(dataDir, "backups")).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a backup or restore fails in time if the S3 service never answers", async () => {
  const storage = openStorage(at, readConfig({}, { BODEGA_DATA_DIR: dataDir, ...s3.env }), 300);
  s3.hold = () => new Promise(() => {});
  const silent = { code: 5001, message: `${at} did not answer within 0.3 s.` };
  expect(await failureOf(storage.read("whole.tar.gz"))).toMatchObject(silent);
  expect(await failureOf(storage.upload("whole.tar.gz", "id", new AbortController().signal))).toMatchObject(silent);
});

test("a large backup that fails or is interrupted leaves neither object nor parts", async () => {
  s3.fail = { when: /partNumber=2/, code: "InternalError" };
  expect((await run(["backup", "--to", at], {}, large)).code).toBe(4);
  expect({ objects: s3.objects.size, uploads: s3.uploads.size }).toEqual({ objects: 0, uploads: 0 });
  s3.fail = undefined;

  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  s3.hold = async (call) => {
    if (!call.includes("partNumber=1")) return;
    reached.resolve();
    await released.promise;
  };
  const child = Bun.spawn([...command, "db", "backup", "--to", at], {
    env: { ...environment(), ...s3.env, BODEGA_DATA_DIR: large },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await reached.promise;
  child.kill("SIGINT");
  released.resolve();
  expect(await child.exited).toBe(130);
  await until("the end of the upload", () => s3.uploads.size === 0);
  expect(s3.objects.size).toBe(0);
  expect(existsSync(join(large, "backups", "last.json"))).toBe(true);
  expect(readdirSync(join(large, "backups"))).toEqual(["last.json"]);
});

test("a large backup is uploaded in parts, and restored", async () => {
  expect((await run(["backup", "--to", `${at}/whole.tar.gz`], {}, large)).code).toBe(0);
  expect(s3.calls.filter((call) => call.includes("partNumber="))).not.toEqual([]);
  const target = join(makeDir(), "data");
  expect((await run(["restore", `${at}/whole.tar.gz`, "--yes"], {}, target)).code).toBe(0);
});

test("a killed backup does not delay the next one, which removes the leftover parts", async () => {
  const reached = Promise.withResolvers<void>();
  s3.hold = async (call) => {
    if (!call.startsWith("PUT")) return;
    reached.resolve();
    await new Promise(() => {});
  };
  const killed = Bun.spawn([...command, "db", "backup", "--to", at], {
    env: { ...environment(), ...s3.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await reached.promise;
  const waiting = Bun.spawn([...command, "db", "backup"], {
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  // The command prints at once that it waits for the other command, which may then continue.
  const words = waiting.stderr.getReader();
  expect(new TextDecoder().decode((await words.read()).value)).toContain("Waiting until another backup");
  killed.kill("SIGKILL");
  expect(await waiting.exited).toBe(0);
  expect(readdirSync(join(dataDir, "backups")).filter((name) => name.startsWith("."))).toEqual([]);
});
