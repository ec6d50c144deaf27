import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { FileLock } from "../../src/server/db/local/file-lock.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import type { Report } from "../../src/server/health/run.ts";
import { makeDir, openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

const cli = openCli();
const { json, run, failure } = cli;
const path = join(cli.dataDir, "bodega.db");

beforeAll(async () => {
  await json("tenant", "create", "demo");
});

const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Runs a check with another file in the place of the database. */
async function checkFile(bytes: Uint8Array | string, ...flags: string[]) {
  const dataDir = makeDir();
  writeFileSync(join(dataDir, "bodega.db"), bytes);
  return run(["db", "check", "--data-dir", dataDir, ...flags]);
}

test("a sound database is exit code 0 with a summary on standard error, and its file does not change", async () => {
  const before = hashOf(path);
  const sound = await run(["db", "check"]);
  expect(sound).toMatchObject({ code: 0, stderr: "20 checks: no problems found.\n" });
  expect(sound.stdout).toContain("Database\n  ✓ file, text, integrity, references, schema\n");
  expect(await run(["db", "check", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
  const report = await json<Report & Record<string, unknown>>("db", "check");
  expect(Object.keys(report)).toEqual(["ok", "worst", "checked", "passed", "findings"]);
  expect(report).toMatchObject({ ok: true, worst: "ok", findings: [] });
  expect(hashOf(path)).toBe(before);
});

test("damage is exit code 1 with a remedy, never a crash: one value with --json, only subjects with -q", async () => {
  const whole = readFileSync(path);
  for (const bytes of ["", "x".repeat(9000), whole.subarray(0, 16), whole.subarray(0, whole.length / 2)]) {
    const { code, stdout, stderr } = await checkFile(bytes);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^ {2}✗ (?:file|integrity): .*\n(?:.*\n)*? {4}> Stop the server, keep a copy of the file, and restore the last backup with: bodega db restore BACKUP --data-dir '.+'\n/m,
    );
    expect(stderr).toMatch(/^\d+ checks: \d+ errors?/);
    expect(stdout + stderr).not.toMatch(/\n\s+at |Internal error|SQLITE_/);
  }
  const { code, stdout, stderr } = await checkFile("", "--json");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const report = JSON.parse(stdout) as Report;
  expect({ ...report, findings: [] }).toEqual({
    ok: false,
    worst: "error",
    checked: ["file"],
    passed: { environment: [], records: [], database: [] },
    findings: [],
  });
  expect(report.findings.map(({ check, severity, fixable }) => [check, severity, fixable])).toEqual([
    ["file", "error", false],
  ]);
  expect((await checkFile("", "-q")).stdout).toMatch(/^\/\S+bodega\.db\n$/);
});

test("a directory without a database is exit code 3, and no database is created", async () => {
  const dir = join(makeDir(), "nothing");
  const { code, error } = await failure("db", "check", "--data-dir", dir);
  expect({ code, error: error.code }).toEqual({ code: 3, error: 5301 });
  expect(existsSync(dir)).toBe(false);
});

test("a database server that does not answer is exit code 4", async () => {
  const { code, error } = await failure("db", "check", "--database-url", "http://127.0.0.1:1");
  expect({ code, error: error.code }).toEqual({ code: 4, error: 5001 });
});

test("inconsistent values are exit code 1, with the command that fixes them", async () => {
  const db = await openStoreDatabase({ dataDir: cli.dataDir });
  await db.execute(`insert into products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, stock,
    reserved, lang, created_at, updated_at)
    select 'prod_a', id, 'Lamp', 'lamp', 'published', 100, 'EUR', 2, 9, 4, 'en', 'a', 'a' from tenants`);
  await db.close();
  const { code, stdout, stderr } = await run(["db", "check"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}✗ stock: reserved of prod_a in store demo is 4 and should be 0\.$/m);
  expect(stderr).toContain("Fix what can be fixed with:\n    > bodega doctor --fix");
  expect(await run(["doctor", "-n", "demo", "--fix"])).toMatchObject({ code: 0 });
  expect((await run(["db", "check"])).code).toBe(0);
});

test("a terminal shows the running check, and ctrl-C ends it with 130 while it reads", async () => {
  // Holding the readers' lock exclusively delays the check, as reading a large file would.
  const lock = new FileLock(await loadLibsql(), join(cli.dataDir, "bodega.db-readers"));
  expect(lock.tryExclusive()).toBe(true);
  const wrapper = ["sh", "-c", 'trap : INT; "$@"; echo "exit code $?"', "sh"];
  const { screen } = await runAtTerminal(["db", "check"], [["Checking: file", "\u0003"]], {
    env: cli.environment(),
    wrapper,
  });
  lock.close();
  expect(stripEscapes(screen)).toContain("exit code 130");
  const whole = await runAtTerminal(["db", "check"], [], { env: cli.environment(), columns: 40 });
  expect(whole.code).toBe(0);
  expect(stripEscapes(whole.screen)).toContain("no problems found");
});

test("a truncated file is reported also when it has a WAL", async () => {
  const dataDir = makeDir();
  const file = join(dataDir, "bodega.db");
  writeFileSync(file, readFileSync(path));
  truncateSync(file, 200_000);
  writeFileSync(`${file}-wal`, "no log");
  const { code, stdout } = await run(["db", "check", "--data-dir", dataDir]);
  expect(code).toBe(1);
  expect(stdout).toContain("cannot be opened: database disk image is malformed.");
});
