import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { until } from "../support/until.ts";
import { copyWithFiller } from "./large-database.ts";
import { makeDir, openCli, runAtTerminal } from "./run-bodega.ts";

interface Report {
  backup: string;
  created_at: string;
  bytes: number;
  database_bytes: number;
  schema: string;
  stores: number;
  removed: string[];
  warnings: string[];
}

const { dataDir, here: run, json, failure } = openCli();
const backups = join(dataDir, "backups");

beforeAll(async () => {
  await json("tenant", "create", "demo");
  writeFileSync(join(dataDir, "secret.key"), `${"k".repeat(43)}\n`, { mode: 0o600 });
});

/** Unpacks a backup with `tar`. Returns the contents of its files by name. */
function unpack(path: string): Record<string, Buffer> {
  const dir = makeDir();
  const { exitCode, stderr } = Bun.spawnSync(["tar", "xzf", path, "-C", dir]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]));
}

/** Lists files that a failed backup could have left. */
function listLeftovers(...dirs: string[]): string[] {
  return dirs.filter(existsSync).flatMap((dir) => readdirSync(dir).filter((name) => name.startsWith(".")));
}

test("a backup is an archive that only its owner can read and tar can open, with a manifest and the database, but no secret key", async () => {
  const report = await json<Report>("db", "backup");
  expect(report.backup).toBe(join(backups, `bodega-${report.created_at.replace(/[-:]/g, "")}.tar.gz`));
  expect(statSync(report.backup).mode & 0o777).toBe(0o600);
  const parts = unpack(report.backup);
  expect(Object.keys(parts).toSorted()).toEqual(["bodega.db", "manifest.json"]);
  const manifest = JSON.parse(String(parts["manifest.json"]));
  const database = parts["bodega.db"] as Buffer;
  expect(manifest).toEqual({
    format: 1,
    created_at: report.created_at,
    version: expect.any(String),
    source: "file",
    database: {
      bytes: database.length,
      sha256: createHash("sha256").update(database).digest("hex"),
      begun_at: expect.stringMatching(/^\d{4}-/),
    },
    schema: expect.any(Array),
    stores: 1,
  });
  const { migrations } = await json<{ migrations: { name: string }[] }>("db", "status");
  expect(manifest.schema.map(({ name }: { name: string }) => name)).toEqual(migrations.map(({ name }) => name));
  expect({ ...report, backup: "", bytes: 0, created_at: "" }).toEqual({
    backup: "",
    created_at: "",
    bytes: 0,
    database_bytes: database.length,
    schema: migrations.at(-1)?.name as string,
    stores: 1,
    removed: [],
    warnings: [],
  });
  expect(listLeftovers(backups)).toEqual([]);
});

test("every backup has an entry in the audit log", async () => {
  const file = join(makeDir(), "audited.tar.gz");
  const report = await json<Report>("db", "backup", "--to", file);
  expect(report).toMatchObject({ backup: file, warnings: [] });
  const [entry] = await json<{ details: Record<string, unknown> }[]>("audit", "list", "--event", "database.backed_up");
  expect(entry?.details).toEqual({ backup: file, bytes: report.bytes, removed: 0 });
});

test("--keep removes the oldest backups of this database, and nothing else", async () => {
  const dir = makeDir();
  const other = openCli();
  await other.json("tenant", "create", "another");
  const { backup: foreign } = await other.json<Report>("db", "backup", "--to", dir);
  const strangers = ["notes.txt", "bodega-20200101T000000.000Z.tar.gz", "before-0001_next-20200101T000000Z.db"];
  for (const name of strangers) writeFileSync(join(dir, name), "not a backup");
  const made: string[] = [];
  for (let count = 0; count < 3; count++) {
    const { backup, removed } = await json<Report>("db", "backup", "--to", dir, "--keep", "2");
    made.push(backup);
    expect(removed).toEqual(count < 2 ? [] : [(made[0] as string).slice(dir.length + 1)]);
  }
  const left = [foreign, made[1] as string, made[2] as string].map((path) => path.slice(dir.length + 1));
  expect(readdirSync(dir).toSorted()).toEqual([...strangers, ...left].toSorted());
});

test("--keep never removes the new backup, even if earlier backups have later times because the clock was ahead", async () => {
  const dir = makeDir();
  const { backup: first } = await json<Report>("db", "backup", "--to", dir);
  const ahead = join(dir, "bodega-29990101T000000.000Z.tar.gz");
  renameSync(first, ahead);
  const { backup, removed } = await json<Report>("db", "backup", "--to", dir, "--keep", "1");
  expect(removed).toEqual(["bodega-29990101T000000.000Z.tar.gz"]);
  expect(readdirSync(dir).map((name) => join(dir, name))).toEqual([backup]);
});

test("of two concurrent backups, one waits for the other, and both succeed", async () => {
  const both = await Promise.all([json<Report>("db", "backup"), json<Report>("db", "backup")]);
  expect(new Set(both.map(({ backup }) => backup)).size).toBe(2);
  for (const { backup } of both) expect(existsSync(backup)).toBe(true);
});

// Only root can give files to another account.
if (process.getuid?.() === 0) {
  test("a backup by root belongs to the data directory's owner if it is in this directory, and otherwise to root", async () => {
    const cli = openCli();
    mkdirSync(cli.dataDir);
    chownSync(cli.dataDir, 1234, 1234);
    await cli.json("tenant", "create", "demo");
    const elsewhere = makeDir();
    for (const to of [[], ["--to", join(cli.dataDir, "kept", "here")]]) await cli.json("db", "backup", ...to);
    const { backup } = await cli.json<Report>("db", "backup", "--to", elsewhere);
    for (const name of readdirSync(cli.dataDir, { recursive: true, encoding: "utf8" })) {
      expect({ name, owner: statSync(join(cli.dataDir, name)).uid }).toEqual({ name, owner: 1234 });
    }
    expect(statSync(backup).uid).toBe(0);
  });
}

test("a failed backup is an error and leaves no files", async () => {
  const file = join(makeDir(), "file");
  writeFileSync(file, "");
  for (const [args, code, words] of [
    [["--to", file], 2, "--to must be a directory"],
    [["--to", `${file}/below`], 4, "not a directory"],
    [["--to", "s3://x"], 2, "s3://bucket"],
    [["--to", "s3://bucket/shop"], 2, "BODEGA_S3_ACCESS_KEY_ID"],
    [["--to", `${file}.tar.gz`, "--keep", "3"], 2, "--keep"],
    [["--keep", "0"], 2, "--keep"],
  ] as const) {
    const { code: got, error } = await failure("db", "backup", ...args);
    expect({ args, got, message: error.message }).toEqual({ args, got: code, message: expect.stringContaining(words) });
  }
  const empty = makeDir();
  const { code, error } = await openCli(empty).failure("db", "backup");
  expect({ code, message: error.message }).toEqual({ code: 3, message: expect.stringContaining("Database not found") });
  expect(readdirSync(empty)).toEqual([]);
  expect(listLeftovers(backups, makeDir())).toEqual([]);
});

test("a damaged database is not backed up", async () => {
  const damaged = join(makeDir(), "data");
  mkdirSync(damaged);
  const { backup } = await json<Report>("db", "backup");
  const bytes = unpack(backup)["bodega.db"] as Buffer;
  writeFileSync(join(damaged, "bodega.db"), bytes);
  const db = await openStoreDatabase({ dataDir: damaged });
  const { rows } = await db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'orders_by_buyer'");
  await db.close();
  // Damages an index page, which only a check of the whole file reads.
  const start = (Number(rows[0]?.rootpage) - 1) * 4096;
  writeFileSync(join(damaged, "bodega.db"), bytes.fill(0x5a, start, start + 4096));
  const { code, error } = await openCli(damaged).failure("db", "backup");
  expect({ code, message: error.message }).toEqual({
    code: 1,
    message: expect.stringContaining("damaged"),
  });
  expect(readdirSync(join(damaged, "backups"))).toEqual(["last.json"]);
  expect(JSON.parse(readFileSync(join(damaged, "backups", "last.json"), "utf8"))).toEqual({
    last_success: null,
    last_failure: { at: expect.any(String), message: error.message },
  });
});

test("a backup that a restore would refuse is reported when it is made", async () => {
  const cli = openCli();
  await cli.json("tenant", "create", "demo");
  const db = await openStoreDatabase({ dataDir: cli.dataDir });
  await db.execute("create index mine on products (title)");
  await db.close();
  const { backup, warnings } = await cli.json<Report>("db", "backup");
  expect(warnings).toEqual([expect.stringContaining("foreign index mine of products")]);
  const { error } = await openCli().failure("db", "restore", backup, "--yes");
  expect(error.message).toContain("foreign index mine of products");
});

test("ctrl-C ends a backup with exit code 130 and leaves no files", async () => {
  const large = await copyWithFiller(dataDir, 32);
  const dir = makeDir();
  const { code, screen } = await runAtTerminal(["db", "backup", "--to", dir], [["copying", "\u0003"]], {
    env: openCli(large).environment(),
  });
  expect({ code, screen }).toEqual({ code: 130, screen: expect.stringContaining("Cancelled.") });
  await until("the end of what it has made", () => listLeftovers(dir, join(large, "backups")).length === 0);
  expect(readdirSync(dir)).toEqual([]);
});

test("db backup prints the path of the backup, with -q only the path, and never a secret of the environment", async () => {
  const secret = "s".repeat(40);
  const quiet = await run(["db", "backup", "-q"], {
    env: { BODEGA_S3_ACCESS_KEY_ID: "id", BODEGA_S3_SECRET_ACCESS_KEY: secret },
  });
  expect(quiet.stdout).toMatch(/^\/.*\.tar\.gz\n$/);
  expect(quiet.stderr).toBe("");
  expect(existsSync(quiet.stdout.trim())).toBe(true);
  expect((await run(["db", "backup"])).stdout).toMatch(/^Backup +\/.*\.tar\.gz\n/);
});
