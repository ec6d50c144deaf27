import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileLock } from "../../src/server/db/local/file-lock.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import type { Report } from "../../src/server/health/doctor.ts";
import { makeDir, openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

const cli = openCli();
const { json, here: run } = cli;
const path = join(cli.dataDir, "bodega.db");

beforeAll(async () => {
  await json("tenant", "create", "demo");
});

const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Runs a check on a data directory with these bytes as its database file. */
async function checkFile(bytes: Uint8Array | string, ...flags: string[]) {
  const dataDir = makeDir();
  writeFileSync(join(dataDir, "bodega.db"), bytes);
  return run(["db", "check", "--data-dir", dataDir, ...flags]);
}

test("a check of an intact database ends with exit code 0 and a summary on standard error, and does not change the file", async () => {
  const before = hashOf(path);
  const sound = await run(["db", "check"]);
  expect(sound).toMatchObject({ code: 0, stderr: "19 checks: no problems found.\n" });
  expect(sound.stdout).toContain("Database\n  ✓ file, text, integrity, references, schema\n");
  expect(await run(["db", "check", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
  const report = await json<Report & Record<string, unknown>>("db", "check");
  expect(Object.keys(report)).toEqual(["ok", "worst", "checked", "passed", "findings"]);
  expect(report).toMatchObject({ ok: true, worst: "ok", findings: [] });
  expect(hashOf(path)).toBe(before);
});

test("a check that finds damage ends with exit code 1 and a remedy, without a crash; --json prints one value, -q only subjects", async () => {
  const plain = await checkFile(readFileSync(path).subarray(0, 16));
  expect(plain.code).toBe(1);
  expect(plain.stdout).toMatch(
    / {4}> Stop the server, keep a copy of the file, and restore the last backup with: bodega db restore BACKUP/,
  );
  expect(plain.stdout + plain.stderr).not.toMatch(/\n\s+at |Internal error|SQLITE_/);
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

test("a terminal shows the running check, and ctrl-C ends it with exit code 130", async () => {
  // An exclusive lock delays the check for as long as a large file would.
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
