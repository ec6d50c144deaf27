import { afterAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import { pushOptions } from "../../src/server/config/push-config.ts";
import { AppError } from "../../src/server/errors.ts";
import { failureOf } from "../support/failure.ts";

const dir = mkdtempSync(join(tmpdir(), "bodega-push-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const pem = { type: "pkcs8", format: "pem" } as const;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsaPem = rsa.export(pem) as string;
const ellipticPem = elliptic.export(pem) as string;
const account = {
  type: "service_account",
  project_id: "demo-shop",
  private_key_id: "key-1",
  private_key: rsaPem,
  client_email: "push@demo-shop.iam.gserviceaccount.com",
  token_uri: "https://oauth2.googleapis.com/token",
};
const apple = {
  BODEGA_APNS_KEY: ellipticPem,
  BODEGA_APNS_KEY_ID: "KEY1234567",
  BODEGA_APNS_TEAM_ID: "TEAM123456",
  BODEGA_APNS_TOPIC: "com.example.shop",
};

test("without accounts only browsers can be reached", () => {
  const config = readConfig({}, {});
  expect(config.pushProviders).toEqual({ fcm: undefined, apns: undefined });
  expect(pushOptions(config).platforms).toEqual(["web"]);
});

test("an account at Google is read from the variable or from its file", () => {
  const path = join(dir, "google.json");
  writeFileSync(path, JSON.stringify(account));
  const fcm = {
    projectId: "demo-shop",
    clientEmail: account.client_email,
    privateKey: rsaPem,
    privateKeyId: "key-1",
    tokenUri: account.token_uri,
  };
  for (const env of [{ BODEGA_FCM_CREDENTIALS: JSON.stringify(account) }, { BODEGA_FCM_CREDENTIALS_FILE: path }]) {
    const config = readConfig({}, env);
    expect(config.pushProviders).toEqual({ fcm, apns: undefined });
    expect(pushOptions(config).platforms).toEqual(["web", "android"]);
  }
});

test("an account at Apple is read, its key from a file, or with line ends as \\n", () => {
  const path = join(dir, "key.p8");
  writeFileSync(path, ellipticPem);
  const { BODEGA_APNS_KEY: _, ...rest } = apple;
  const apns = {
    key: ellipticPem,
    keyId: "KEY1234567",
    teamId: "TEAM123456",
    topic: "com.example.shop",
    isSandbox: false,
  };
  for (const env of [
    apple,
    { ...rest, BODEGA_APNS_KEY_FILE: path },
    { ...rest, BODEGA_APNS_KEY: ellipticPem.replaceAll("\n", "\\n") },
  ]) {
    expect(readConfig({}, env).pushProviders).toEqual({ fcm: undefined, apns });
  }
  const sandbox = readConfig({}, { ...apple, BODEGA_APNS_SANDBOX: "1" });
  expect(sandbox.pushProviders.apns?.isSandbox).toBe(true);
  expect(pushOptions(sandbox).platforms).toEqual(["web", "ios"]);
});

const google = (more: object) => ({ BODEGA_FCM_CREDENTIALS: JSON.stringify({ ...account, ...more }) });
for (const [what, env, source] of [
  ["an account that is not JSON", { BODEGA_FCM_CREDENTIALS: "{" }, "BODEGA_FCM_CREDENTIALS"],
  ["an account that is a path", { BODEGA_FCM_CREDENTIALS: "/etc/google.json" }, "BODEGA_FCM_CREDENTIALS"],
  ["an account without a project", google({ project_id: undefined }), "BODEGA_FCM_CREDENTIALS"],
  ["a project that leads elsewhere", google({ project_id: "../x" }), "BODEGA_FCM_CREDENTIALS"],
  ["an invalid key", google({ private_key: "secret-text" }), "BODEGA_FCM_CREDENTIALS"],
  ["a key of another kind", google({ private_key: ellipticPem }), "BODEGA_FCM_CREDENTIALS"],
  ["tokens over plain http", google({ token_uri: "http://127.0.0.1/" }), "BODEGA_FCM_CREDENTIALS"],
  ["an invalid key of Apple", { ...apple, BODEGA_APNS_KEY: "secret-text" }, "BODEGA_APNS_KEY"],
  ["an RSA key for Apple", { ...apple, BODEGA_APNS_KEY: rsaPem }, "BODEGA_APNS_KEY"],
  ["no id of the key", { ...apple, BODEGA_APNS_KEY_ID: undefined }, "BODEGA_APNS_KEY_ID"],
  ["no team", { ...apple, BODEGA_APNS_TEAM_ID: undefined }, "BODEGA_APNS_TEAM_ID"],
  ["no app", { ...apple, BODEGA_APNS_TOPIC: undefined }, "BODEGA_APNS_TOPIC"],
  ["a malformed team", { ...apple, BODEGA_APNS_TEAM_ID: "team" }, "BODEGA_APNS_TEAM_ID"],
  ["a malformed app", { ...apple, BODEGA_APNS_TOPIC: "a b" }, "BODEGA_APNS_TOPIC"],
  ["no key for the rest", { ...apple, BODEGA_APNS_KEY: undefined }, "BODEGA_APNS_KEY"],
  ["a sandbox that is neither", { ...apple, BODEGA_APNS_SANDBOX: "yes" }, "BODEGA_APNS_SANDBOX"],
] as const) {
  test(`${what} is refused, and the error names ${source} but no part of the key`, async () => {
    const error = (await failureOf(() => readConfig({}, env))) as AppError;
    expect(error).toBeInstanceOf(AppError);
    expect([error.code, error.details?.map(({ field }) => field)]).toEqual([5102, [source]]);
    expect(JSON.stringify([error.message, error.details])).not.toMatch(/PRIVATE|secret-text/);
  });
}
