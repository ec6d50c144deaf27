import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openCli } from "./run-bodega.ts";

const source = resolve(import.meta.dir, "../../src/cli");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Returns the packages that these files load at once. Imports of types and lazy imports do not count. */
function findPackages(files: string[]): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const left = [...files];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (seen.has(file) || !file.endsWith(".ts")) continue;
    seen.add(file);
    for (const { path, kind } of transpiler.scanImports(readFileSync(file, "utf8"))) {
      if (kind === "dynamic-import") continue;
      if (path.startsWith(".")) left.push(resolve(dirname(file), path));
      else if (!path.startsWith("node:")) packages.add(path);
    }
  }
  return packages;
}

test("help, version and completion load no database, server or prompts, so that commands start at once", () => {
  const tree = readFileSync(join(source, "commands/command-tree.ts"), "utf8");
  const commands = transpiler.scanImports(tree).map(({ path }) => path);
  expect(commands.length).toBeGreaterThan(20);
  const files = [
    "main.ts",
    "framework/help.ts",
    "commands/completion.ts",
    ...commands.map((name) => join("commands", name)),
  ];
  const packages = [...findPackages(files.map((name) => join(source, name)))].sort();
  expect(packages).toEqual(["citty", "ipaddr.js"]);
});

test("wrong settings of the server do not stop a command that needs none of them", async () => {
  const { json, here: run } = openCli();
  await json("tenant", "create", "demo");
  const { app_id } = await json<{ app_id: string }>("key", "issue", "-n", "demo", "--name", "web");
  const env = {
    BODEGA_PORT: "none",
    BODEGA_TLS_CERT: "/no/such/file",
    BODEGA_BACKUP_EVERY: "sometimes",
    BODEGA_SMTP_URL: "none",
    BODEGA_STRIPE_URL: "none",
  };
  expect(await run(["key", "publish", app_id, "--json"], { env })).toMatchObject({ code: 0, stderr: "" });
});
