import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

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

/** The modules that each module imports, apart from their tables, which any module may name in SQL. */
function moduleImports(): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const path of files) {
    const [, name] = /^src\/server\/modules\/([^/]+)\/.*\.ts$/.exec(path) ?? [];
    if (name === undefined) continue;
    const text = readFileSync(join(root, path), "utf8");
    for (const [, given = ""] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      const target = normalize(join(dirname(path), given)).replaceAll("\\", "/");
      const [, other] = /^src\/server\/modules\/([^/]+)\//.exec(target) ?? [];
      if (other === undefined || other === name || target.endsWith("/table.ts")) continue;
      imports.set(name, (imports.get(name) ?? new Set()).add(other));
    }
  }
  return imports;
}

test("no modules import each other, directly or through others", () => {
  const imports = moduleImports();
  expect(imports.get("orders")?.has("catalogue")).toBe(true);
  // Modules that import only removed ones are removed until none is left but those in a circle.
  for (let before = -1; before !== imports.size; ) {
    before = imports.size;
    for (const [name, others] of imports) {
      if ([...others].every((other) => !imports.has(other))) imports.delete(name);
    }
  }
  expect([...imports]).toEqual([]);
});
