// Everything that must hold before a change is taken in. Runs every step even when an early one fails.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTests, filesOf, listFailures, renderReport, type StepResult } from "./test-report.ts";

const root = join(import.meta.dir, "..");
const scratch = mkdtempSync(join(tmpdir(), "bodega-tests-"));
const temp = join(scratch, "tmp");
mkdirSync(temp);
const results: StepResult[] = [];
/** More than this is no accident of a busy machine. */
const maxFilesAgain = 2;
let running: Bun.Subprocess | undefined;

// Settings of the person who runs this must not decide what the tests see, and what they leave lying goes at the end.
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BODEGA_"));
const env = { ...Object.fromEntries(inherited), TMPDIR: temp };

async function runBun(args: string[]): Promise<number> {
  running = Bun.spawn([process.execPath, ...args], { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  return await running.exited;
}

async function runStep(title: string, work: () => Promise<Omit<StepResult, "title" | "ms">>): Promise<StepResult> {
  console.log(`\n=== ${title}`);
  const started = performance.now();
  const result = { title, ...(await work()), ms: performance.now() - started };
  console.log(`=== ${title}: ${result.failed > 0 ? "FAILED" : "ok"} in ${(result.ms / 1000).toFixed(1)} s`);
  results.push(result);
  return result;
}

/** A step that passes or fails as a whole. */
function runCheck(title: string, args: string[]): Promise<StepResult> {
  return runStep(title, async () => {
    const ok = (await runBun(args)) === 0;
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  });
}

/** Tests that fail, in a few files, are run once more with nothing beside them; the report names them whatever comes of it. */
function runTestFiles(title: string, args: string[]): Promise<StepResult> {
  return runStep(title, async () => {
    const first = await runTests(`${results.length}.xml`, args);
    const files = filesOf(first.failures);
    const isNamed = first.failed === first.failures.length && !files.includes("");
    if (files.length === 0 || files.length > maxFilesAgain || !isNamed) return first;
    console.log(`\n=== ${title}: once more, alone: ${files.join(" ")}`);
    const second = await runTests(`${results.length}-again.xml`, files);
    if (second.failed > 0) return first;
    return { ...first, passed: first.passed + first.failed, failed: 0, failures: [], unsteady: first.failures };
  });
}

async function runTests(reportName: string, args: string[]) {
  const report = join(scratch, reportName);
  // Patience for a busy machine: a test that means to measure time states its own limit. `bun test` runs no exit
  // handlers, so servers that tests share would outlive it.
  const flags = ["--timeout=20000", "--no-orphans", "--reporter=junit", `--reporter-outfile=${report}`];
  const exitCode = await runBun(["test", ...args, ...flags]);
  const text = existsSync(report) ? readFileSync(report, "utf8") : null;
  return { ...countTests(text, exitCode), failures: listFailures(text) };
}

process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.on("SIGTERM", () => {
  running?.kill("SIGTERM");
  process.exit(143);
});

await runCheck("lint", ["node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings"]);
await runCheck("types", ["node_modules/typescript/bin/tsc", "--noEmit"]);
await runCheck("migrations in step", ["scripts/check-migrations.ts"]);
const build = await runCheck("build", ["scripts/build.ts"]);
const needBinary = ["test/binary/**", "test/conformance/section-*"];
// What is about whole machines takes turns; of everything else a file each core at a time.
const apart = ["test/bench/**", ...(build.failed === 0 ? ["test/binary/**"] : needBinary)];
await runTestFiles("tests", [
  "--parallel",
  "--no-isolate",
  ...apart.map((pattern) => `--path-ignore-patterns=${pattern}`),
]);
if (build.failed === 0) await runTestFiles("tests of the executable", ["test/binary/"]);
else await runStep("tests of the executable", async () => ({ passed: 0, failed: 1, skipped: 0 }));

console.log(`\n${renderReport(results)}`);
process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;
