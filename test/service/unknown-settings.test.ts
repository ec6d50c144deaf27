import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findUnknownSettings } from "../../src/server/config/environment.ts";

const dataDir = mkdtempSync(join(tmpdir(), "bodega-settings-"));
const path = join(dataDir, "bodega.env");
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const find = (env: Record<string, string>, ...lines: string[]) => {
  writeFileSync(path, lines.join("\n"));
  return findUnknownSettings(env, dataDir).map(({ message }) => message);
};

test("a variable that is no setting is found in the environment and in bodega.env, with the nearest name", () => {
  expect(find({ BODEGA_DATABASE_SYNC_URL: "x", PATH: "/bin" }, "BODEGA_PROT=9000", "BODEGA_XYZZY=1")).toEqual([
    "BODEGA_DATABASE_SYNC_URL in the environment is not a setting and has no effect. Did you mean BODEGA_DATABASE_URL?",
    `BODEGA_PROT in ${path} is not a setting and has no effect. Did you mean BODEGA_PORT?`,
    `BODEGA_XYZZY in ${path} is not a setting and has no effect.`,
  ]);
});

test("settings, values of several lines, and variables of other programs are not found", () => {
  const key = ["BODEGA_APNS_KEY='-----BEGIN PRIVATE KEY-----", "abc", "", "-----END PRIVATE KEY-----'"];
  const others = [
    "NODE_EXTRA_CA_CERTS=/ca.pem",
    "BODEGA_SECRET_FILE=key # of ours",
    "BODEGA_MAIL_FROM=Ada's <a@b.example>",
  ];
  expect(find({ BODEGA_NAMESPACE: "demo", BODEGA_METRICS_TOKEN_FILE: "x" }, ...key, ...others)).toEqual([]);
  expect(find({ BODEGA_NAMESPACE_FILE: "x" })).toHaveLength(1);
});

test("without bodega.env there is nothing to find", () => {
  rmSync(path, { force: true });
  expect(findUnknownSettings({}, dataDir)).toEqual([]);
});
