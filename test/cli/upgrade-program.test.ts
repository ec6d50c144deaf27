import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../../src/cli/commands/upgrade/other-version.ts";

test("a program that does not answer within its limit is killed, and is an error", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bodega-program-"));
  const program = join(dir, "waits");
  writeFileSync(program, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  try {
    await expect(runProgram(program, ["version"], undefined, 100)).rejects.toMatchObject({ kind: "unavailable" });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
