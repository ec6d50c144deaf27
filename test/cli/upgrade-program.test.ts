import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspectVersion, runProgram } from "../../src/cli/commands/upgrade/other-version.ts";
import { buildInfo } from "../../src/cli/terminal/build-info.ts";

const made: string[] = [];

afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true });
});

/** Writes a program that runs lines of shell; returns its path. */
function writeProgram(...lines: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), "bodega-program-"));
  made.push(dir);
  const program = join(dir, "program");
  writeFileSync(program, `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
  return program;
}

test("a program that does not answer within its limit is killed, and is an error", async () => {
  const program = writeProgram("exec sleep 1000");
  await expect(runProgram(program, ["version"], undefined, 100)).rejects.toMatchObject({ kind: "unavailable" });
});

test("an earlier build whose status knows every migration, but which refuses the database, is not installed", async () => {
  const version = JSON.stringify({ version: "0.1.0", commit: "7b92dd350ad4", platform: buildInfo.platform });
  const status = JSON.stringify({ migrations: [{ name: "0000_initial", applied_at: "2026-01-01", known: true }] });
  const refusal = JSON.stringify({ error: { message: "Migration 0000_initial differs." } });
  const program = writeProgram(
    `[ "$1" = version ] && echo '${version}' && exit`,
    `[ "$2" = status ] && echo '${status}' && exit`,
    `echo '${refusal}' >&2; exit 4`,
  );
  const config = { dataDir: "/nowhere" } as Parameters<typeof inspectVersion>[1];
  await expect(inspectVersion(program, config)).rejects.toMatchObject({
    kind: "wrongState",
    message: "Version 0.1.0 (commit 7b92dd350ad4) cannot use the database: Migration 0000_initial differs.",
  });
});
