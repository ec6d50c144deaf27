import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import { settingNames } from "../../src/server/config/environment.ts";

const root = join(import.meta.dir, "../..");

/** Variables by which the program's processes talk to each other; nobody sets them. */
const internal = ["BODEGA_CONFIG", "BODEGA_WORKER"];

/** Variables of the runtime and of the terminal, which have no `_FILE` form, as one that commands read themselves. */
const plain = ["BODEGA_NAMESPACE", "BUN_TMPDIR", "NODE_EXTRA_CA_CERTS", "NO_COLOR"];
const operation = readFileSync(join(root, "docs/OPERATION.md"), "utf8");
const documented = (text: string) =>
  new Set((text.match(/^\| `[A-Z].*$/gm) ?? []).flatMap((row) => row.match(/`[A-Z]+_[A-Z0-9_]+`/g) ?? []));

test("both tables of variables are the same, and name the variables without a _FILE form", () => {
  const reference = readFileSync(join(root, "docs/CLI.md"), "utf8");
  expect([...documented(reference)].toSorted()).toEqual([...documented(operation)].toSorted());
  for (const text of [reference, operation]) {
    expect([...documented(text)]).toEqual(expect.arrayContaining(plain.map((name) => `\`${name}\``)));
    const named = /(?:without that form: |\(not for )([^.)]*)/.exec(text)?.[1]?.match(/[A-Z_]+/g);
    expect(named?.toSorted()).toEqual(plain.toSorted());
  }
});

test("every other variable is read from the file that its _FILE form names", () => {
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
