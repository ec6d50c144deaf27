import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const server = join(import.meta.dir, "../../src/server");
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
