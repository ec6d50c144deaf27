import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/** Variables by which the program's processes talk to each other; nobody sets them. */
const internal = ["BODEGA_BACKUP_JOB", "BODEGA_CONFIG", "BODEGA_WORKER"];

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
  expect([...documented].filter((name) => !read.has(name)).toSorted()).toEqual([]);
});
