import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { readConfig } from "../../src/server/config/config.ts";
import { findUnknownSettings, formatVariable } from "../../src/server/config/environment.ts";
import type { AppError } from "../../src/server/errors.ts";
import { failureOf } from "../support/failure.ts";

const base = mkdtempSync(join(tmpdir(), "bodega-settings-"));
let dirs = 0;

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Creates a data directory with these lines in bodega.env. */
function makeDataDir(...lines: string[]): string {
  const dir = join(base, String(dirs++));
  mkdirSync(dir);
  writeFileSync(join(dir, "bodega.env"), `${lines.join("\n")}\n`);
  return dir;
}

test("bodega.env of the data directory sets options; the environment and flags take precedence", () => {
  const dataDir = makeDataDir("# of this shop", "BODEGA_PORT=1001", "BODEGA_HOST='::1'");
  expect(readConfig({ "data-dir": dataDir }, {})).toMatchObject({ dataDir, port: 1001, host: "::1" });
  expect(readConfig({ "data-dir": dataDir }, { BODEGA_PORT: "" }).port).toBe(1001);
  expect(readConfig({ "data-dir": dataDir }, { BODEGA_PORT: "1002" })).toMatchObject({ port: 1002, host: "::1" });
  expect(readConfig({ "data-dir": dataDir, port: "1003" }, { BODEGA_PORT: "1002" }).port).toBe(1003);
  expect(readConfig({}, { BODEGA_DATA_DIR: dataDir }).port).toBe(1001);
});

test("a variable in the environment replaces the variable with `_FILE` in bodega.env, and vice versa", () => {
  const secretFile = join(base, "secret");
  writeFileSync(secretFile, "e".repeat(40));
  const dataDir = makeDataDir(`BODEGA_SECRET=${"f".repeat(40)}`);
  expect(readConfig({ "data-dir": dataDir }, { BODEGA_SECRET_FILE: secretFile }).secret).toBe("e".repeat(40));
  const other = makeDataDir(`BODEGA_SECRET_FILE=${secretFile}`);
  expect(readConfig({ "data-dir": other }, {}).secret).toBe("e".repeat(40));
  expect(readConfig({ "data-dir": other }, { BODEGA_SECRET: "g".repeat(40) }).secret).toBe("g".repeat(40));
});

test("bodega.env can set neither the data directory nor an inherited configuration", () => {
  const dataDir = makeDataDir("BODEGA_DATA_DIR=/elsewhere", "BODEGA_CONFIG={}");
  expect(readConfig({ "data-dir": dataDir }, {})).toMatchObject({ dataDir, isWorker: false });
});

test("a bodega.env that cannot be read is an error", async () => {
  const dataDir = join(base, String(dirs++));
  mkdirSync(join(dataDir, "bodega.env"), { recursive: true });
  const error = (await failureOf(() => readConfig({ "data-dir": dataDir }, {}))) as AppError;
  expect([error.code, error.message]).toEqual([5102, `${dataDir}/bodega.env cannot be read (EISDIR).`]);
});

test("the values that are written to bodega.env are read back unchanged", () => {
  const values = ["smtp://a%40b:c$d@x", 'Ada "the shop" <a@b.example>', "Ada's <a@b.example>", "a\\b #c", "", " x "];
  for (const value of values) expect(parseEnv(formatVariable("NAME", value))).toEqual({ NAME: value });
  for (const value of ["a\nb", `'"`, "'\\", "'$HOME"]) expect(() => formatVariable("NAME", value)).toThrow("NAME");
});

const dataDir = mkdtempSync(join(tmpdir(), "bodega-settings-"));
const path = join(dataDir, "bodega.env");
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const find = (env: Record<string, string>, ...lines: string[]) => {
  writeFileSync(path, lines.join("\n"));
  return findUnknownSettings(env, dataDir).map(({ message }) => message);
};

test("an unknown variable in the environment or in bodega.env is reported with the most similar setting", () => {
  expect(find({ BODEGA_DATABASE_SYNC_URL: "x", PATH: "/bin" }, "BODEGA_PROT=9000", "BODEGA_XYZZY=1")).toEqual([
    "BODEGA_DATABASE_SYNC_URL in the environment is not a setting and has no effect. Did you mean BODEGA_DATABASE_URL?",
    `BODEGA_PROT in ${path} is not a setting and has no effect. Did you mean BODEGA_PORT?`,
    `BODEGA_XYZZY in ${path} is not a setting and has no effect.`,
  ]);
});

test("settings, values of several lines, and variables of other programs are not reported", () => {
  const key = ["BODEGA_STRIPE_URL='-----BEGIN PRIVATE KEY-----", "abc", "", "-----END PRIVATE KEY-----'"];
  const others = [
    "NODE_EXTRA_CA_CERTS=/ca.pem",
    "BODEGA_SECRET_FILE=key # of ours",
    "BODEGA_MAIL_FROM=Ada's <a@b.example>",
  ];
  expect(find({ BODEGA_NAMESPACE: "demo", BODEGA_METRICS_TOKEN_FILE: "x" }, ...key, ...others)).toEqual([]);
  expect(find({ BODEGA_NAMESPACE_FILE: "x" })).toHaveLength(1);
});

test("without bodega.env, no unknown variable is reported", () => {
  rmSync(path, { force: true });
  expect(findUnknownSettings({}, dataDir)).toEqual([]);
});
