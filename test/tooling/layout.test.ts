import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import { settingNames } from "../../src/server/config/environment.ts";

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

/** Returns the modules that each module imports. Tables do not count, because any module may use them in SQL. */
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
  // Removes modules that import only removed modules, until only cycles are left.
  for (let before = -1; before !== imports.size; ) {
    before = imports.size;
    for (const [name, others] of imports) {
      if ([...others].every((other) => !imports.has(other))) imports.delete(name);
    }
  }
  expect([...imports]).toEqual([]);
});

const server = join(root, "src/server");
const read = (name: string) => readFileSync(join(server, name), "utf8");

test("a running server calls every purge function of the modules", () => {
  const files = readdirSync(join(server, "modules"), { recursive: true, encoding: "utf8" });
  const purges = files
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [...read(join("modules", name)).matchAll(/^export (?:(?:async )?function|const) (purge\w+)/gm)])
    .map(([, name]) => name as string);
  expect(purges.length).toBeGreaterThan(9);
  const list = /const purgeJobs[\s\S]*?\n\];/.exec(read("runtime/purging.ts"))?.[0] ?? "";
  expect(purges.filter((name) => !new RegExp(`\\b${name}\\b`).test(list))).toEqual([]);
});

const asserted = /\bstatement<|: Statement<\w+> = |\brows(?:\[\w+\])?\)? as |\bupdateStatement</g;

test("at most sixty row types are asserted by hand; the others come from tables", async () => {
  const found: string[] = [];
  for (const path of new Bun.Glob("**/*.ts").scanSync(server)) {
    const text = await Bun.file(join(server, path)).text();
    for (const [match] of text.matchAll(asserted)) found.push(`${path}: ${match}`);
  }
  expect(found.length).toBeGreaterThan(10);
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(60);
});

/** Variables that only the program's own processes set for each other. */
const internal = ["BODEGA_CONFIG", "BODEGA_WORKER"];

/** Variables of the runtime and the terminal, and one that commands read themselves. They have no `_FILE` form. */
const plain = ["BODEGA_NAMESPACE", "BUN_TMPDIR", "NODE_EXTRA_CA_CERTS", "NO_COLOR"];
const operation = readFileSync(join(root, "docs/OPERATION.md"), "utf8");
const documented = (text: string) =>
  new Set((text.match(/^\| `[A-Z].*$/gm) ?? []).flatMap((row) => row.match(/`[A-Z]+_[A-Z0-9_]+`/g) ?? []));

test("docs/OPERATION.md names all variables without a _FILE form", () => {
  expect([...documented(operation)]).toEqual(expect.arrayContaining(plain.map((name) => `\`${name}\``)));
  const named = /have no such form: ([^.]*)/.exec(operation)?.[1]?.match(/[A-Z_]+/g);
  expect(named?.toSorted()).toEqual(plain.toSorted());
});

test("every variable in docs/OPERATION.md that has a _FILE form can be read from the file that this form names", () => {
  const s3 = { BODEGA_S3_ACCESS_KEY_ID: "id", BODEGA_S3_SECRET_ACCESS_KEY: "secret" };
  for (const quoted of documented(operation)) {
    const name = quoted.slice(1, -1);
    if (plain.includes(name)) continue;
    const read = () => readConfig({}, { ...(/S3_[ER]/.test(name) && s3), [`${name}_FILE`]: "/none" });
    expect(read).toThrow(`${name}_FILE names a file that cannot be read`);
  }
});

test("every variable that the source reads has a row in docs/OPERATION.md, and there are no other rows", () => {
  const source = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: root })].map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  const read = new Set(
    source.flatMap((text) => text.match(/"BODEGA_[A-Z0-9_]+"/g) ?? []).map((name) => name.slice(1, -1)),
  );
  for (const name of internal) read.delete(name);
  const rows = readFileSync(join(root, "docs/OPERATION.md"), "utf8").match(/^\| `B.*$/gm) ?? [];
  const documented = new Set(rows.flatMap((row) => row.match(/BODEGA_[A-Z0-9_]+/g) ?? []));
  expect(read.size).toBeGreaterThan(20);
  expect([...read].filter((name) => !documented.has(name)).toSorted()).toEqual([]);
  expect(settingNames.map((name) => `BODEGA_${name}`).toSorted()).toEqual([...read].toSorted());
  expect([...documented].filter((name) => !read.has(name)).toSorted()).toEqual([]);
});
