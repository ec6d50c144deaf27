// Checks everything. All steps run, even if one fails. `--randomize [--seed=N]` runs the tests in random order. With
// paths of tests, only these tests run.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { installChromium } from "./install-chromium.ts";
import { countTests, listFailures, listSuites, renderReport, type StepResult } from "./test-report.ts";

const root = join(import.meta.dir, "..");
const scratch = mkdtempSync(join(tmpdir(), "bodega-tests-"));
const temp = join(scratch, "tmp");
mkdirSync(temp);
const running = new Set<Bun.Subprocess>();
// There are more workers than processors, because tests spend half of their time waiting for timers and processes.
const workers = navigator.hardwareConcurrency * 2 + 2;
/** Folders whose tests start other processes, and therefore use several processors. */
const heavy = /^test\/(?:binary|browser|cluster|conformance|db|tooling)\//;

interface Outcome {
  code: number;
  output: string;
}

// BODEGA_ variables of the caller must not change the results of tests. Variables for the tests are inherited.
const inherited = Object.entries(process.env).filter(([name]) => !/^BODEGA_(?!TEST_)/.test(name));
// Garbage is collected without more threads, because the workers already use all processors.
const collector = { BUN_JSC_useConcurrentGC: "0", BUN_JSC_numberOfGCMarkers: "1" };
const env = { ...Object.fromEntries(inherited), ...collector, TMPDIR: temp };

/** Runs Bun. Returns its exit code and output. With `show`, also prints the standard output as it arrives. */
async function runBun(args: string[], more: Record<string, string> = {}, show = false): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      if (show) process.stdout.write(chunk);
    }
    return Buffer.concat(chunks).toString();
  };
  const [stdout, stderr, code] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
  running.delete(child);
  return { code, output: stdout + stderr };
}

/** Runs a step that passes or fails as a whole. Shows its output only if it fails. */
async function runCheck(title: string, args: string[]): Promise<StepResult> {
  const started = performance.now();
  const { code, output } = await runBun(args);
  const ok = code === 0;
  if (!ok) console.log(output);
  return { title, passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, ms: performance.now() - started };
}

/**
 * Writes invented times of test files: Bun starts the files with the longest times first. Large files get long times.
 * Files of `heavy` folders are spread over the first four fifths, so that all workers end at about the same time.
 */
function writeTimings(): string {
  const size = (path: string) =>
    path.includes("/browser/") ? Number.POSITIVE_INFINITY : Bun.file(join(root, path)).size;
  const paths = [...new Bun.Glob("test/*/**/*.test.ts").scanSync(root)].toSorted((a, b) => size(b) - size(a));
  const [others = [], starting = []] = [false, true].map((is) => paths.filter((path) => heavy.test(path) === is));
  const between = Math.floor((0.8 * others.length) / starting.length);
  const spread = starting.flatMap((path, index) => [path, ...others.slice(index * between, (index + 1) * between)]);
  const ordered = [...spread, ...others.slice(starting.length * between)];
  const files = Object.fromEntries(ordered.map((path, index) => [path, (ordered.length - index) * 1000]));
  const path = join(scratch, "timings.json");
  writeFileSync(path, JSON.stringify({ version: 1, files }));
  return path;
}

/** Returns the test files that did not end because Bun crashed, including the file in which it crashed. */
function findLeft(output: string): string[] {
  return [...output.matchAll(/^✗ (\S+) \((?:worker crashed|aborted)\b/gm)].map(([, path]) => path as string);
}

/**
 * Runs test files. Prints failures in full as they happen, then a line for each folder. Bun 1.4.5 crashes in a few of a
 * hundred runs. Test files that did not end because of a crash run once more.
 */
async function runTests(args: string[], executable: string | undefined): Promise<StepResult> {
  const started = performance.now();
  const first = await runFiles(args, executable);
  const left = findLeft(first.output);
  if (left.length > 0) console.log(`\nBun has crashed. These files run again: ${left.join(" ")}\n`);
  const flags = args.filter((arg) => arg.startsWith("-"));
  const second = left.length > 0 ? await runFiles([...flags, ...left], executable) : undefined;
  for (const line of listSuites([first.text, second?.text].join(""))) console.log(line);
  const ms = performance.now() - started;
  const counts = countTests(first.text, first.code);
  if (second === undefined) return { title: "tests", ...counts, failures: listFailures(first.text), ms };
  const again = countTests(second.text, second.code);
  const failures = listFailures(first.text).filter((line) => !line.includes("(worker crashed)"));
  return {
    title: "tests",
    passed: counts.passed + again.passed,
    skipped: counts.skipped + again.skipped,
    failed: failures.length + again.failed,
    failures: [...failures, ...listFailures(second.text)],
    ms,
  };
}

async function runFiles(args: string[], executable: string | undefined) {
  const report = join(scratch, "tests.xml");
  rmSync(report, { force: true });
  // The timeout is long, because a busy machine is slow. `bun test` runs no exit handlers: without --no-orphans, the
  // servers that tests share would continue to run.
  const flags = [
    "--timeout=20000",
    "--no-orphans",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    `--timings=${writeTimings()}`,
  ];
  const { code, output } = await runBun(
    ["test", "--only-failures", `--parallel=${workers}`, "--no-isolate", ...flags, ...args],
    // In PATH, because only then the commands that it prints begin with `bodega` instead of a path.
    executable === undefined
      ? {}
      : { BODEGA_TEST_EXECUTABLE: executable, PATH: `${dirname(executable)}${delimiter}${process.env.PATH}` },
    true,
  );
  return { code, output, text: existsSync(report) ? readFileSync(report, "utf8") : null };
}

process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.on("SIGTERM", () => {
  for (const child of running) child.kill("SIGTERM");
  process.exit(143);
});

const args = process.argv.slice(2);
const paths = args.filter((arg) => !arg.startsWith("-"));
const isWhole = paths.length === 0;
const build =
  isWhole || paths.some((path) => /binary|browser|tooling/.test(path)) ? [runCheck("build", ["scripts/build.ts"])] : [];
// These checks run at the same time as the tests, which need only the build.
const checks = isWhole
  ? [
      runCheck("lint", ["node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings", "--colors=off"]),
      // One checker, because several would repeat work for shared types, and the tests need the other processors.
      runCheck("types", ["node_modules/typescript/bin/tsc", "--noEmit", "--checkers", "1"]),
      runCheck("migrations", ["scripts/check-migrations.ts"]),
    ]
  : [];
if (isWhole) console.log("Building the executable…");
const missing = isWhole ? await installChromium() : null;
const executable = (await build[0])?.failed === 0 ? join(root, "dist", "bodega") : undefined;
if (isWhole) console.log("Running the tests, and checking lint, types and migrations…");
const tests = runTests([...args, "--path-ignore-patterns=test/bench/**"], executable);
const results = await Promise.all([...checks, ...build, tests]);
if (missing !== null) console.log(`\n${missing}`);
console.log(`\n${renderReport(results)}`);
process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;
