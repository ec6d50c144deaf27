import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readConfig } from "../../src/server/config/config.ts";
import type { ConfigFlags, Environment } from "../../src/server/config/environment.ts";
import { failureOf } from "../support/failure.ts";

const dir = mkdtempSync(join(tmpdir(), "bodega-config-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("without flags and environment, every setting has its default", () => {
  expect(readConfig({}, {})).toMatchObject({
    dataDir: resolve("bodega-data"),
    databaseUrl: undefined,
    host: "127.0.0.1",
    port: 8080,
    workers: 1,
    publicUrl: undefined,
    trustedProxies: [],
    log: "text",
    allowPrivatePush: false,
    logLevel: "info",
    tls: undefined,
    acme: undefined,
    metricsToken: undefined,
    backupEveryMs: undefined,
    backupTo: undefined,
    backupKeep: 7,
    s3: undefined,
  });
});

test("the order of precedence is flag, variable, file of the variable, default", () => {
  const file = join(dir, "port");
  writeFileSync(file, " 3000\n");
  const env = { BODEGA_PORT: "2000", BODEGA_PORT_FILE: file };
  expect(readConfig({ port: "1000" }, env).port).toBe(1000);
  expect(readConfig({}, env).port).toBe(2000);
  expect(readConfig({}, { ...env, BODEGA_PORT: "" }).port).toBe(3000);
  expect(readConfig({}, { ...env, BODEGA_PORT: undefined }).port).toBe(3000);
  expect(readConfig({}, { BODEGA_PORT: "" }).port).toBe(8080);
});

test("every setting can come from the environment", () => {
  const env = {
    BODEGA_DATA_DIR: "/srv/bodega",
    BODEGA_DATABASE_URL: "https://db.example",
    BODEGA_DATABASE_AUTH_TOKEN: "t",
    BODEGA_HOST: "0.0.0.0",
    BODEGA_PORT: "0",
    BODEGA_WORKERS: "4",
    BODEGA_PUBLIC_URL: "https://shop.example/",
    BODEGA_TRUSTED_PROXY: "10.0.0.0/8, 2001:db8::1",
    BODEGA_LOG: "json",
    BODEGA_SMTP_URL: "smtps://user:p%40ss@mail.example:465",
    BODEGA_MAIL_FROM: "Shop <shop@example.com>",
    BODEGA_PUSH_PRIVATE: "1",
  };
  expect(readConfig({}, env)).toMatchObject({
    dataDir: "/srv/bodega",
    databaseUrl: "https://db.example",
    databaseAuthToken: "t",
    host: "0.0.0.0",
    port: 0,
    workers: 4,
    publicUrl: "https://shop.example",
    trustedProxies: ["10.0.0.0/8", "2001:db8::1/128"],
    log: "json",
    smtpUrl: "smtps://user:p%40ss@mail.example:465",
    mailFrom: "Shop <shop@example.com>",
    allowPrivatePush: true,
  });
});

test("--trusted-proxy flags replace the proxies of the environment, and each flag may name several", () => {
  const flags = { "trusted-proxy": ["10.0.0.1", "192.0.2.0/24,fd00::/8"] };
  expect(readConfig(flags, { BODEGA_TRUSTED_PROXY: "1.2.3.4" }).trustedProxies).toEqual([
    "10.0.0.1/32",
    "192.0.2.0/24",
    "fd00::/8",
  ]);
});

const refused: [source: string, flags: ConfigFlags, env: Environment][] = [
  ["--port", { port: "-1" }, {}],
  ["--port", { port: "65536" }, {}],
  ["--port", { port: "" }, {}],
  ["BODEGA_PORT", {}, { BODEGA_PORT: "99999" }],
  ["--workers", { workers: "0" }, {}],
  ["--workers", { workers: "65" }, {}],
  ["--data-dir", { "data-dir": "" }, {}],
  ["--host", { host: "" }, {}],
  ["--database-url", { "database-url": "db.example:8080" }, {}],
  ["BODEGA_DATABASE_URL", {}, { BODEGA_DATABASE_URL: "sqlite.db" }],
  ["--database-url", { "database-url": "file:shop.db" }, {}],
  ["BODEGA_DATABASE_AUTH_TOKEN", {}, { BODEGA_DATABASE_AUTH_TOKEN: "a\nb" }],
  ["--public-url", { "public-url": "shop.example" }, {}],
  ["--public-url", { "public-url": "https://ada:sesame@shop.example" }, {}],
  ["--public-url", { "public-url": "https://shop.example/x?y=1" }, {}],
  ["--public-url", { "public-url": "https://shop.example/#shop" }, {}],
  ["--trusted-proxy", { "trusted-proxy": ["proxy.example"] }, {}],
  ["--trusted-proxy", { "trusted-proxy": ["10.0.0.0/33"] }, {}],
  ["--trusted-proxy", { "trusted-proxy": ["10.0.0.1", "*"] }, {}],
  ["BODEGA_SMTP_URL", {}, { BODEGA_SMTP_URL: "mail.example", BODEGA_MAIL_FROM: "a@b.example" }],
  ["BODEGA_SMTP_URL", {}, { BODEGA_SMTP_URL: "smtp://", BODEGA_MAIL_FROM: "a@b.example" }],
  ["BODEGA_SMTP_URL", {}, { BODEGA_SMTP_URL: "smtp://h.example/?ignoreTLS=true", BODEGA_MAIL_FROM: "a@b.example" }],
  ["BODEGA_SMTP_URL", {}, { BODEGA_SMTP_URL: "smtp://u:%p@h.example", BODEGA_MAIL_FROM: "a@b.example" }],
  ["BODEGA_MAIL_FROM", {}, { BODEGA_SMTP_URL: "smtp://mail.example" }],
  ["BODEGA_MAIL_FROM", {}, { BODEGA_MAIL_FROM: "shop" }],
  ["BODEGA_PUSH_PRIVATE", {}, { BODEGA_PUSH_PRIVATE: "yes" }],
  ["BODEGA_MAIL_FROM", {}, { BODEGA_MAIL_FROM: "Shop <a@b.example>, c@d.example" }],
  ["--log", { log: "xml" }, {}],
  ["BODEGA_PORT_FILE", {}, { BODEGA_PORT_FILE: join(dir, "not-there") }],
  ["--log-level", { "log-level": "loud" }, {}],
  ["--tls-key", { "tls-cert": "cert.pem" }, {}],
  ["--acme", { acme: "localhost" }, {}],
  ["--acme", { acme: "192.0.2.7" }, {}],
  ["--acme", { acme: "*.example.com" }, {}],
  ["BODEGA_ACME", { "tls-cert": "cert.pem", "tls-key": "key.pem" }, { BODEGA_ACME: "shop.example.com" }],
  ["--acme-email", { acme: "shop.example.com", "acme-email": "nobody" }, {}],
  ["BODEGA_ACME_DIRECTORY", { acme: "shop.example.com" }, { BODEGA_ACME_DIRECTORY: "http://ca.example.com" }],
  ["BODEGA_TLS_CERT", {}, { BODEGA_TLS_KEY: "key.pem" }],
  ["BODEGA_METRICS_TOKEN", {}, { BODEGA_METRICS_TOKEN: "short" }],
  ["--backup-every", { "backup-every": "24" }, {}],
  ["--backup-every", { "backup-every": "30d" }, {}],
  ["BODEGA_BACKUP_TO", {}, { BODEGA_BACKUP_TO: "s3://" }],
  ["--backup-keep", { "backup-keep": "0" }, {}],
  ["BODEGA_S3_SECRET_ACCESS_KEY", {}, { BODEGA_S3_ACCESS_KEY_ID: "id" }],
];

test.each(refused)("%s is refused, and the error names it: %j %j", async (source, flags, env) => {
  const error = await failureOf(() => readConfig(flags, env));
  expect(error).toMatchObject({ code: 5102, message: expect.stringContaining(source) });
  if (!source.endsWith("_FILE")) expect(error).toMatchObject({ details: [{ field: source }] });
});

test("options of a server come from the environment, and flags take precedence", () => {
  const env = {
    BODEGA_LOG_LEVEL: "warn",
    BODEGA_TLS_CERT: "/etc/bodega/cert.pem",
    BODEGA_TLS_KEY: "/etc/bodega/key.pem",
    BODEGA_METRICS_TOKEN: "0123456789abcdef",
    BODEGA_BACKUP_EVERY: "24h",
    BODEGA_BACKUP_TO: "s3://bucket/shops",
    BODEGA_BACKUP_KEEP: "3",
    BODEGA_S3_ENDPOINT: "http://127.0.0.1:9000",
    BODEGA_S3_REGION: "eu-central-1",
    BODEGA_S3_ACCESS_KEY_ID: "id",
    BODEGA_S3_SECRET_ACCESS_KEY: "secret",
  };
  expect(readConfig({}, env)).toMatchObject({
    logLevel: "warn",
    tls: { cert: "/etc/bodega/cert.pem", key: "/etc/bodega/key.pem" },
    metricsToken: "0123456789abcdef",
    backupEveryMs: 86_400_000,
    backupTo: "s3://bucket/shops",
    backupKeep: 3,
    s3: { endpoint: "http://127.0.0.1:9000", region: "eu-central-1", accessKeyId: "id", secretAccessKey: "secret" },
  });
  const flags = { "log-level": "debug", "backup-every": "0", "backup-to": "kept", "backup-keep": "1" };
  expect(readConfig(flags, env)).toMatchObject({
    logLevel: "debug",
    backupEveryMs: undefined,
    backupTo: resolve("kept"),
    backupKeep: 1,
  });
});
