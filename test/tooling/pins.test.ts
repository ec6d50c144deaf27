import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import toolchain from "../../tools/bun/package.json" with { type: "json" };
import toolchainLock from "../../tools/bun/package-lock.json" with { type: "json" };
import forTargets from "../../tools/targets/package.json" with { type: "json" };

const read = (...path: string[]) => readFileSync(join(import.meta.dir, "..", "..", ...path), "utf8");
const exact = /^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

test("every version in package.json is exact", () => {
  const groups = [
    manifest.dependencies,
    manifest.devDependencies,
    toolchain.dependencies,
    forTargets.optionalDependencies,
  ];
  for (const [name, version] of groups.flatMap((group) => Object.entries(group))) {
    expect({ name, exact: exact.test(version) }).toEqual({ name, exact: true });
  }
});

test("the same version of Bun runs the checks, provides the types, and is in every executable", () => {
  expect(manifest.devDependencies["bun-types"]).toBe(toolchain.dependencies.bun);
  for (const [name, version] of Object.entries(forTargets.optionalDependencies)) {
    const wanted = name.startsWith("@oven/") ? toolchain.dependencies.bun : manifest.dependencies.libsql;
    expect({ name, version }).toEqual({ name, version: wanted });
  }
});

test("the lockfiles cover every platform of the executable", () => {
  const lock = read("bun.lock");
  const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
  for (const name of [
    ...Object.keys(forTargets.optionalDependencies).filter((one) => one.startsWith("@libsql/")),
    ...[...platforms, "linux-x64-musl", "linux-arm64-musl"].map((platform) => `@biomejs/cli-${platform}`),
    ...platforms.flatMap((platform) => [`@esbuild/${platform}`, `@typescript/typescript-${platform}`]),
  ]) {
    expect({ name, locked: lock.includes(`\n    "${name}": [`) }).toEqual({ name, locked: true });
  }
  for (const name of Object.keys(forTargets.optionalDependencies).filter((one) => one.startsWith("@oven/"))) {
    expect(Object.keys(toolchainLock.packages)).toContain(`node_modules/${name}`);
  }
});

test("every locked package has its integrity hash and comes from the public registry", () => {
  for (const lock of [read("bun.lock"), read("tools", "targets", "bun.lock")]) {
    const entries = lock.match(/^ {4}"[^"]+": \["[^"]+@.*\],$/gm) ?? [];
    expect(entries.length).toBeGreaterThan(10);
    expect(entries.filter((entry) => !/^ {4}"[^"]+": \["[^"]+", "", .*"sha512-[^"]+"\],$/.test(entry))).toEqual([]);
  }
  const { "": _self, ...packages } = toolchainLock.packages as Record<
    string,
    { integrity?: string; resolved?: string }
  >;
  for (const [name, { integrity, resolved = "https://registry.npmjs.org/" }] of Object.entries(packages)) {
    expect({ name, integrity, resolved }).toEqual({
      name,
      integrity: expect.stringMatching(/^sha512-/),
      resolved: expect.stringMatching(/^https:\/\/registry\.npmjs\.org\//),
    });
  }
});
