import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "..", "..");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "bodega-lint-")));
const layers = "style/noRestrictedImports";

/** Path, content, and what must object to it, and nothing else; null where the file must pass. */
const samples: [path: string, content: string, rule: string | null][] = [
  ["src/server/modules/a/service.ts", `import { Elysia } from "elysia";\nexport const app = new Elysia();\n`, layers],
  ["src/server/modules/b/service.ts", `import { a } from "../../http/a.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/c/table.ts", `import { a } from "../../../cli/a.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/d/model.ts", `import { a } from "./routes.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/e/service.ts", `import type { A } from "../../http/a.ts";\nexport type B = A;\n`, layers],
  ["src/server/modules/f/service.ts", `import { a } from "../a/service.ts";\nexport const b = a;\n`, null],
  ["src/server/modules/g/routes.ts", `import { a } from "../../../cli/a.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/h/routes.ts", `import { a } from "./table.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/i/routes.ts", `import { a } from "../../db/open.ts";\nexport const b = a;\n`, layers],
  [
    "src/server/modules/j/routes.ts",
    `import { Elysia } from "elysia";\nimport { a } from "../../http/a.ts";\nexport const b = new Elysia().use(a);\n`,
    null,
  ],
  ["src/server/http/a.ts", `import { a } from "../modules/a/routes.ts";\nexport const b = a;\n`, layers],
  ["src/server/http/b.ts", `import { a } from "../modules/a/service.ts";\nexport const b = a;\n`, null],
  ["src/server/db/a.ts", `import { a } from "../modules/a/table.ts";\nexport const b = a;\n`, layers],
  ["src/server/db/b.ts", `import { a } from "bun:sqlite";\nexport const b = a;\n`, layers],
  ["src/server/api/app.ts", `import { a } from "../cli/run.ts";\nexport const b = a;\n`, layers],
  [
    "src/cli/commands/a/show.ts",
    `import { a } from "../../../server/modules/a/table.ts";\nexport const b = a;\n`,
    layers,
  ],
  ["src/cli/commands/b/show.ts", `import { a } from "../../../server/http/a.ts";\nexport const b = a;\n`, layers],
  ["src/cli/commands/c/show.ts", `import { a } from "../../../server/serve.ts";\nexport const b = a;\n`, layers],
  ["src/cli/commands/d/show.ts", `export const b = () => import("../../../server/serve.ts");\n`, layers],
  [
    "src/cli/commands/e/show.ts",
    `import { a } from "../../../server/modules/a/service.ts";\nexport default a;\n`,
    null,
  ],
  ["src/cli/commands/serve/serve.ts", `export const b = () => import("../../server/serve.ts");\n`, null],
  ["src/cli/commands/demo/demo.ts", `import { a } from "../../server/app.ts";\nexport const b = a;\n`, layers],
  ["src/server/modules/k/service.ts", "export default 1;\n", "style/noDefaultExport"],
  ["src/server/modules/l/service.ts", "export const b = process.env.HOME;\n", "style/noProcessEnv"],
  ["src/cli/env.ts", "export const b = process.env.HOME;\n", "style/noProcessEnv"],
  ["src/server/config/config.ts", "export const b = process.env.HOME;\n", null],
  ["src/cli/main.ts", "export const b = process.env.HOME;\n", null],
  ["src/server/modules/m/service.ts", `console.log("hello");\n`, "suspicious/noConsole"],
  [
    "src/server/modules/n/service.ts",
    `export * from "./other.ts";\n`,
    "performance/noBarrelFile performance/noReExportAll",
  ],
  ["src/server/modules/o/index.ts", `export { a } from "./other.ts";\n`, "performance/noBarrelFile"],
  [
    "src/server/modules/p/one.ts",
    `import { b } from "./two.ts";\nexport const a = () => b;\n`,
    "suspicious/noImportCycles",
  ],
  [
    "src/server/modules/p/two.ts",
    `import { a } from "./one.ts";\nexport const b = () => a;\n`,
    "suspicious/noImportCycles",
  ],
  ["src/server/modules/q/badName.ts", "export const a = 1;\n", "style/useFilenamingConvention"],
  ["src/server/modules/r/long.ts", "export {};\n".repeat(251), "style/noExcessiveLinesPerFile"],
  [
    "src/server/modules/s/service.ts",
    `import { a } from "left-pad";\nexport const b = a;\n`,
    "correctness/noUndeclaredDependencies",
  ],
  ["src/server/modules/t/other.ts", "export const a = 1;\n", null],
  [
    "src/server/modules/t/service.ts",
    `import { a } from "./other";\nexport const b = a;\n`,
    "correctness/useImportExtensions",
  ],
  [
    "src/server/modules/u/service.ts",
    "const save = async () => 1;\nexport const run = async () => {\n  save();\n};\n",
    "nursery/noFloatingPromises",
  ],
];

/** The rules that objected, by path. */
const found = new Map<string, string[]>();

beforeAll(() => {
  for (const file of ["biome.json", "package.json"]) copyFileSync(join(root, file), join(dir, file));
  for (const [path, content] of samples) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
  const { stdout } = Bun.spawnSync(
    [process.execPath, biome, "lint", "--reporter=github", "--max-diagnostics=none", "--diagnostic-level=error"],
    { cwd: dir },
  );
  for (const [, rule, file] of stdout.toString().matchAll(/^::error title=lint\/([^,]+),file=([^,]+),/gm)) {
    const path = relative(dir, file ?? "");
    found.set(path, [...(found.get(path) ?? []), rule ?? ""]);
  }
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

for (const [path, , rule] of samples) {
  test(`${path} ${rule ? `is refused by ${rule}` : "is accepted"}`, () => {
    expect((found.get(path) ?? []).toSorted()).toEqual(rule ? rule.split(" ") : []);
  });
}
