import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { readOperation } from "../../src/server/config/operation-config.ts";
import { failureOf } from "../support/failure.ts";

test("without flags and variables nothing is watched, backed up or encrypted", () => {
  expect(readOperation({}, {})).toEqual({
    logLevel: "info",
    tls: undefined,
    metrics: undefined,
    metricsToken: undefined,
    backupEveryMs: undefined,
    backupTo: undefined,
    backupKeep: 7,
    s3: undefined,
  });
});

test("what belongs to running a server is read from the environment, and flags beat it", () => {
  const env = {
    BODEGA_LOG_LEVEL: "warn",
    BODEGA_TLS_CERT: "/etc/bodega/cert.pem",
    BODEGA_TLS_KEY: "/etc/bodega/key.pem",
    BODEGA_METRICS: "[::1]:9090",
    BODEGA_METRICS_TOKEN: "0123456789abcdef",
    BODEGA_BACKUP_EVERY: "24h",
    BODEGA_BACKUP_TO: "s3://bucket/shops",
    BODEGA_BACKUP_KEEP: "3",
    BODEGA_S3_ENDPOINT: "http://127.0.0.1:9000",
    BODEGA_S3_REGION: "eu-central-1",
    BODEGA_S3_ACCESS_KEY_ID: "id",
    BODEGA_S3_SECRET_ACCESS_KEY: "secret",
  };
  expect(readOperation({}, env)).toEqual({
    logLevel: "warn",
    tls: { cert: "/etc/bodega/cert.pem", key: "/etc/bodega/key.pem" },
    metrics: { host: "::1", port: 9090 },
    metricsToken: "0123456789abcdef",
    backupEveryMs: 86_400_000,
    backupTo: "s3://bucket/shops",
    backupKeep: 3,
    s3: { endpoint: "http://127.0.0.1:9000", region: "eu-central-1", accessKeyId: "id", secretAccessKey: "secret" },
  });
  const flags = { logLevel: "debug", metrics: "9091", backupEvery: "0", backupTo: "kept", backupKeep: "1" };
  expect(readOperation(flags, env)).toMatchObject({
    logLevel: "debug",
    metrics: { host: "127.0.0.1", port: 9091 },
    backupEveryMs: undefined,
    backupTo: resolve("kept"),
    backupKeep: 1,
  });
});

const faults: [title: string, flags: object, env: Record<string, string>, source: string][] = [
  ["a level that is none", { logLevel: "loud" }, {}, "--log-level"],
  ["a certificate without its key", { tlsCert: "cert.pem" }, {}, "--tls-key"],
  ["a key without its certificate", {}, { BODEGA_TLS_KEY: "key.pem" }, "BODEGA_TLS_CERT"],
  ["a listener without a port", { metrics: "localhost" }, {}, "--metrics"],
  ["a port that is none", {}, { BODEGA_METRICS: "70000" }, "BODEGA_METRICS"],
  ["a short token", {}, { BODEGA_METRICS_TOKEN: "short" }, "BODEGA_METRICS_TOKEN"],
  ["a span without a unit", { backupEvery: "24" }, {}, "--backup-every"],
  ["a span that no timer takes", { backupEvery: "30d" }, {}, "--backup-every"],
  ["a bucket that is none", {}, { BODEGA_BACKUP_TO: "s3://" }, "BODEGA_BACKUP_TO"],
  ["no backup to keep", { backupKeep: "0" }, {}, "--backup-keep"],
  ["half an account", {}, { BODEGA_S3_ACCESS_KEY_ID: "id" }, "BODEGA_S3_SECRET_ACCESS_KEY"],
];

for (const [title, flags, env, source] of faults) {
  test(`${title} is refused by its name: ${source}`, async () => {
    const error = await failureOf(() => readOperation(flags, env));
    expect(error).toMatchObject({ code: 5102, details: [{ field: source }] });
  });
}
