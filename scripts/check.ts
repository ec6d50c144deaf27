// A quick check: lint, types, and the tests of what changed since the last commit, or since the commit in the argument.
// The tests nearest to the changes run first. When the time is over, no more tests start. `npm test` checks everything.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "..");
/** After this time in milliseconds, including lint and types, no more test files are started. */
const budgetMs = 18_000;
const started = performance.now();

function git(...args: string[]): string[] {
  const { stdout } = Bun.spawnSync(["git", ...args], { cwd: root });
  return stdout.toString().split("\n").filter(Boolean);
}

async function run(title: string, args: string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  console.log(`${code === 0 ? "ok  " : "FAIL"}  ${title}`);
  if (code !== 0) console.log(stdout + stderr);
  return code === 0;
}

/** Returns the files that a test imports directly, as paths from the root. */
function importsOf(test: string): string[] {
  const text = readFileSync(join(root, test), "utf8");
  return [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path]) =>
    relative(root, join(root, dirname(test), path as string)),
  );
}

/** Returns 0 for a test that changed, 1 if it imports a changed file, and 2 if it is named after a changed module. */
function distance(test: string, changed: Set<string>): number | undefined {
  if (changed.has(test)) return 0;
  if (importsOf(test).some((path) => changed.has(path))) return 1;
  const names = [...changed].flatMap(
    (path) => /^src\/.*?(?:modules|commands|server|cli)\/([a-z-]+)\//.exec(path)?.[1] ?? [],
  );
  const isNamed = (name: string) => test.includes(`/${name}/`) || basename(test).startsWith(name.replace(/s$/, ""));
  return names.some(isNamed) ? 2 : undefined;
}

const since = process.argv[2] ?? "HEAD";
const changed = new Set([...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")]);
const source = [...changed].filter((path) => /\.(ts|mjs|json)$/.test(path) && existsSync(join(root, path)));
const tests = git("ls-files", "test", "--others", "--cached", "--exclude-standard")
  .filter((path) => path.endsWith(".test.ts") && existsSync(join(root, path)))
  .map((path) => ({ path, near: distance(path, changed) }))
  .filter(({ near }) => near !== undefined)
  .toSorted((a, b) => (a.near as number) - (b.near as number));

const outcomes = await Promise.all([
  source.length === 0 || run("lint", ["node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings", ...source]),
  run("types", ["node_modules/typescript/bin/tsc", "--noEmit"]),
]);
const left = tests.map(({ path }) => path);
for (let isFirst = true; left.length > 0 && (isFirst || performance.now() - started < budgetMs); isFirst = false) {
  const batch = left.splice(0, navigator.hardwareConcurrency);
  outcomes.push(await run(batch.join(" "), ["test", "--parallel", "--only-failures", "--timeout=20000", ...batch]));
}
if (left.length > 0) console.log(`Not run for lack of time: ${left.length} related test files. Run them all: npm test`);
console.log(
  `${outcomes.every(Boolean) ? "Passed" : "FAILED"} in ${((performance.now() - started) / 1000).toFixed(1)} s.`,
);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
