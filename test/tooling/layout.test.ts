import { expect, test } from "bun:test";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const files = [...new Bun.Glob("src/**/*").scanSync({ cwd: root })].map((path) => path.replaceAll("\\", "/"));

test("src/server and src/cli contain directly only shared modules and entry points", () => {
  const loose = files.filter((path) => /^src\/(server|cli)\/[^/]+$/.test(path));
  expect(loose.toSorted()).toEqual([
    "src/cli/main.ts",
    "src/cli/run.ts",
    "src/server/context.ts",
    "src/server/errors.ts",
  ]);
});

test("no directory directly contains more than 25 files", () => {
  const counts = new Map<string, number>();
  for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  expect(counts.size).toBeGreaterThan(30);
});
