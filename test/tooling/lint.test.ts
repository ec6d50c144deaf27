import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { renderLayerRules } from "../../scripts/layers.ts";

const root = join(import.meta.dir, "..", "..");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "bodega-lint-")));
const layers = "style/noRestrictedImports";
const cycles = "suspicious/noImportCycles";

const uses = (path: string) => `import { a } from "${path}";\nexport const b = a;\n`;

/** Samples: path, content, and the only rule that must fail; null if none may fail. */
const samples: [path: string, content: string, rule: string | null][] = [
  ["src/server/values/a.ts", uses("../errors.ts"), null],
  ["src/server/values/b.ts", uses("../context.ts"), layers],
  ["src/server/config/b.ts", uses("../db/a.ts"), layers],
  ["src/server/db/b.ts", uses("bun:sqlite"), layers],
  ["src/server/db/c.ts", `import type { A } from "../security/a.ts";\nexport type B = A;\n`, layers],
  ["src/server/http/a.ts", uses("../modules/a/service.ts"), layers],
  ["src/server/modules/a/service.ts", `import { Elysia } from "elysia";\nexport const app = new Elysia();\n`, layers],
  ["src/server/modules/d/model.ts", uses("./routes.ts"), layers],
  ["src/server/modules/e/service.ts", `import type { A } from "../../api/a.ts";\nexport type B = A;\n`, layers],
  ["src/server/modules/f/service.ts", uses("../a/service.ts"), null],
  ["src/server/modules/h/routes.ts", uses("./table.ts"), layers],
  ["src/server/modules/i/routes.ts", uses("../../db/open.ts"), layers],
  ["src/server/modules/j/routes.ts", uses("../../http/b.ts"), null],
  ["src/server/backup/a.ts", uses("../health/a.ts"), layers],
  ["src/server/runtime/a.ts", uses("../../cli/run.ts"), layers],
  ["src/client/a.ts", `import { a } from "./b.ts";\nexport const c = a;\n`, null],
  ["src/client/d.ts", `import { join } from "node:path";\nexport const b = join;\n`, layers],
  ["src/cli/framework/a.ts", uses("../commands/a/show.ts"), layers],
  ["src/cli/commands/a/show.ts", uses("../../../server/modules/a/table.ts"), layers],
  ["src/cli/commands/d/show.ts", `export const b = () => import("../../../server/api/app.ts");\n`, layers],
  [
    "src/cli/commands/e/show.ts",
    `import { a } from "../../../server/modules/a/service.ts";\nexport default a;\n`,
    null,
  ],
  [
    "src/server/modules/w/five.ts",
    "export const sum = (a: number, b: number, c: number, d: number, e: number) => a + b + c + d + e;\n",
    "complexity/useMaxParams",
  ],
  [
    "src/server/modules/w/long-function.ts",
    `export function long(a: number[]): void {\n${"  a.push(1);\n".repeat(71)}}\n`,
    "complexity/noExcessiveLinesPerFunction",
  ],
  [
    "src/server/modules/w/nested.ts",
    `export const f = (a: boolean) => {\n${"if (a) {\n".repeat(6)}${"}\n".repeat(6)}};\n`,
    "complexity/noExcessiveCognitiveComplexity",
  ],
  ["src/server/modules/x/one.ts", `import type { B } from "./two.ts";\nexport type A = B | 1;\n`, cycles],
  ["src/server/modules/x/two.ts", `import type { A } from "./one.ts";\nexport type B = A | 2;\n`, cycles],
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
  ["src/server/modules/q/badName.ts", "export const a = 1;\n", "style/useFilenamingConvention"],
  ["src/server/modules/r/long.ts", "export {};\n".repeat(251), "style/noExcessiveLinesPerFile"],
  ["src/server/modules/s/service.ts", uses("left-pad"), "correctness/noUndeclaredDependencies"],
  ["src/server/modules/t/other.ts", "export const a = 1;\n", null],
  ["src/server/modules/t/service.ts", uses("./other"), "correctness/useImportExtensions"],
  [
    "src/server/modules/u/service.ts",
    "const save = async () => 1;\nexport const run = async () => {\n  save();\n};\n",
    "nursery/noFloatingPromises",
  ],
];

/** The rules that failed, by path. */
const found = new Map<string, string[]>();

beforeAll(() => {
  for (const file of ["biome.json", "biome.layers.json", "package.json", ".gitignore"])
    copyFileSync(join(root, file), join(dir, file));
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

test("biome.layers.json is the current output of scripts/layers.ts", async () => {
  expect(await Bun.file(join(root, "biome.layers.json")).text()).toBe(renderLayerRules());
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

for (const [path, , rule] of samples) {
  test(`${path} ${rule ? `is refused by ${rule}` : "is accepted"}`, () => {
    expect((found.get(path) ?? []).toSorted()).toEqual(rule ? rule.split(" ") : []);
  });
}
