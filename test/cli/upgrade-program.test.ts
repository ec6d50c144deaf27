import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../src/cli/commands/upgrade/other-version.ts";
import { makeDir } from "./run-bodega.ts";

test("a program that does not answer within its limit is killed, and is an error", async () => {
  const program = join(makeDir(), "program");
  writeFileSync(program, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  await expect(runProgram(program, ["version"], undefined, 100)).rejects.toMatchObject({ kind: "unavailable" });
});
