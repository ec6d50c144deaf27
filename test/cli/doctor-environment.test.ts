import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { recordResult } from "../../src/server/backup/location.ts";
import { acquireServerLock } from "../../src/server/db/local/file-lock.ts";
import type { Report } from "../../src/server/health/doctor.ts";
import type { ReportedFinding } from "../../src/server/health/finding.ts";
import { claimDatabase, openVault } from "../../src/server/security/secret-key.ts";
import { inNextVersion } from "../support/next-migration.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { makeDir } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

const copyPrepared = usePreparedShop();
type Expected = Partial<ReportedFinding> & { check: string };

async function runDoctor({ env }: Pick<PreparedShop, "env">, ...flags: string[]) {
  const { code, stdout, stderr } = await runHere(["doctor", "--json", ...flags], { env });
  if (stderr !== "") throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Report) };
}

type Shop = PreparedShop & { smtpUrl: string };

/** Copies the prepared store without its mail server, whose check would take a tenth of a second. */
function copyShop(): Shop {
  const shop = copyPrepared();
  const { BODEGA_SMTP_URL: smtpUrl = "", ...env } = shop.env;
  return { ...shop, env, smtpUrl };
}

/** Records the secret key in the database, as the first server does. */
async function claim({ dataDir }: PreparedShop): Promise<void> {
  const db = await openStoreDatabase({ dataDir });
  await claimDatabase(db, await openVault({ secret: undefined, dataDir }, db));
  await db.close();
}

/** Returns the expected fields of a finding from words such as `disk error subject=demo fixable`. */
function fieldsOf(words: string): Expected {
  const [check = "", severity, ...more] = words.split(" ");
  const others = more.map((one) => (one.includes("=") ? one.split("=") : [one, true]));
  return { check, severity: severity as ReportedFinding["severity"], ...Object.fromEntries(others) };
}

/** Returns the findings that have the given fields. */
function pick(findings: readonly ReportedFinding[], wanted: Expected): ReportedFinding[] {
  return findings.filter((one) =>
    Object.entries(wanted).every(([name, value]) => one[name as keyof ReportedFinding] === value),
  );
}

/** Runs a printed remedy: commands of this program in this process, other commands in a shell. */
async function runRemedy(remedy: string | null, { env, dir }: PreparedShop): Promise<void> {
  const words = (remedy ?? "").match(/(?:[^\s']|'[^']*')+/g)?.map((word) => word.replaceAll("'", "")) ?? [];
  const { code, stderr } =
    words[0] === "bodega" ? await runHere(words.slice(1), { env }) : await runShell(remedy ?? "", dir);
  if (code !== 0) throw new Error(`${remedy}: ${stderr}`);
}

async function runShell(line: string, cwd: string) {
  const child = Bun.spawn(["sh", "-c", line], { cwd, stdout: "ignore", stderr: "pipe" });
  return { code: await child.exited, stderr: await child.stderr.text() };
}

/** Changes the database in a way in which the program itself never changes it. */
async function tamper({ dataDir }: PreparedShop, ...statements: string[]): Promise<void> {
  const db = await openStoreDatabase({ dataDir });
  for (const statement of statements) await db.execute(statement);
  await db.close();
}

const long = "2001-01-01T00:00:00.000Z";
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
type Fault = (shop: Shop) => unknown;
const changed =
  (...statements: string[]): Fault =>
  (shop) =>
    tamper(shop, ...statements);
const env =
  (values: Record<string, string>): Fault =>
  (shop) =>
    Object.assign(shop.env, values);
const none: Fault = () => {};

/** Faults that the command in the printed remedy fixes. */
const curable: [name: string, expected: string, fault: Fault][] = [
  [
    "a store that is suspended",
    "stores note subject=demo namespace=demo",
    changed("update tenants set status = 'suspended'"),
  ],
  ["no store at all", "stores note", changed("delete from tenants")],
  ["a store without an owner", "accounts note subject=demo", none],
  ["a data directory that others can open", "files warning fixable", ({ dataDir }) => chmodSync(dataDir, 0o755)],
  [
    "a backup that others can read",
    "files warning fixable",
    ({ dataDir }) => {
      mkdirSync(join(dataDir, "backups"), { mode: 0o700 });
      writeFileSync(join(dataDir, "backups", "it's old.db"), "", { mode: 0o644 });
    },
  ],
  [
    "an env file that others can read",
    "files warning fixable",
    (shop) => writeSettings(shop, "BODEGA_LOG=json", 0o644),
  ],
  ["mail that failed", "outbox warning subject=demo namespace=demo", none],
  ["a webhook that failed", "webhooks warning namespace=demo", none],
  [
    "a key for any website",
    "keys warning namespace=demo",
    (shop) => runHere(["origin", "set", shop.appId, "--any"], shop),
  ],
  [
    "a published key for web pages with more rights than a storefront key",
    "keys warning namespace=demo",
    changed(`update app_keys set scopes = '["products:read","orders:write"]'`),
  ],
  ["a published key that has expired", "keys warning", changed(`update app_keys set expires_at = '${long}'`)],
];

function writeSettings({ dataDir }: PreparedShop, line: string, mode = 0o600): void {
  writeFileSync(join(dataDir, "bodega.env"), `${line}\n`, { mode });
}

test.each(curable)("doctor finds %s, and the printed remedy fixes it", async (_name, words, fault) => {
  const expected = fieldsOf(words);
  const shop = copyShop();
  chmodSync(shop.dataDir, 0o700);
  await fault(shop);
  const only = ["--only", expected.check];
  const { findings } = await runDoctor(shop, ...only);
  const [found, ...others] = pick(findings, expected);
  expect({ found, others }).toMatchObject({ found: expected, others: [] });
  await runRemedy(found?.remedy ?? null, shop);
  expect(pick((await runDoctor(shop, ...only)).findings, expected)).toEqual([]);
});

test("doctor warns of a country that a store ships to without a tax rate, unless the store has no tax rates", async () => {
  const shop = copyShop();
  const write = (name: string, text: string) => writeFileSync(join(shop.dir, name), text);
  const set = (noun: string) => runHere([noun, "set", "-n", "demo", join(shop.dir, `${noun}.csv`)], shop);
  const found = async () => (await runDoctor(shop, "--only", "taxes")).findings.map(({ subject }) => subject);
  write("shipping.csv", "zone,countries,name,price\nhome,DE,Parcel,4.9\nnear,AT NL DE,Letter,9\nworld,*,Parcel,20\n");
  write("tax.csv", "class,country,region,rate\nstandard,DE,,19\nstandard,NL,,0\n");
  await tamper(shop, "delete from tax_rates", "update tenants set tax_rates = null");
  expect((await set("shipping")).code).toBe(0);
  expect(await found()).toEqual([]);
  expect((await set("tax")).code).toBe(0);
  expect(await found()).toEqual(["demo AT"]);
  await tamper(shop, "update products set tax_class = 'reduced'");
  expect(await found()).toEqual(["demo AT", "demo DE reduced", "demo NL reduced"]);
  await tamper(shop, "update tenants set tax_note = 'No VAT'");
  expect(await found()).toContain("demo");
});

const isSchema = ({ check }: ReportedFinding) => check === "schema";

test("a pending migration is found, and the printed command applies it", async () => {
  const shop = copyShop();
  const schemaFindings = async () => (await runDoctor(shop, "--only", "server")).findings.filter(isSchema);
  await inNextVersion(async () => {
    const [found, ...others] = await schemaFindings();
    expect({ found, others }).toMatchObject({ found: { severity: "error", subject: "0001_next" }, others: [] });
    await runRemedy(found?.remedy ?? null, shop);
    expect(await schemaFindings()).toEqual([]);
  });
});

test("doctor --fix fixes only findings that are safe to fix, and records the fixes in the audit log", async () => {
  const shop = copyShop();
  const backup = join(shop.dataDir, "backups", "bodega-old.tar.gz");
  mkdirSync(join(shop.dataDir, "backups"));
  writeFileSync(backup, "", { mode: 0o644 });
  chmodSync(shop.dataDir, 0o755);
  const wrong = pick((await runDoctor(shop)).findings, { check: "files" });
  expect(wrong.map(({ subject }) => subject)).toEqual([shop.dataDir, join(shop.dataDir, "backups"), backup]);
  const { findings } = await runDoctor(shop, "--fix");
  expect(pick(findings, { check: "files", fixed: true })).toHaveLength(3);
  expect(findings.filter(({ fixable, fixed }) => fixable !== fixed)).toEqual([]);
  expect([shop.dataDir, backup].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(pick((await runDoctor(shop)).findings, { check: "files" })).toEqual([]);
  const { stdout } = await runHere(["audit", "list", "--event", "doctor.fixed", "--json"], shop);
  expect(JSON.parse(stdout)).toMatchObject(
    [backup, join(shop.dataDir, "backups"), shop.dataDir].map((subject) => ({ subject, details: { check: "files" } })),
  );
});

/** Faults whose remedy is not a command, or does not fix them completely. */
const reported: [name: string, expected: string, remedy: RegExp, fault: Fault][] = [
  ["no mail server", "mail warning", /BODEGA_SMTP_URL .*: bodega init$/, none],
  [
    "a silent mail server",
    "mail error subject=127.0.0.1:1",
    /host and port/,
    env({ BODEGA_SMTP_URL: "smtp://127.0.0.1:1" }),
  ],
  [
    "mail that waits for too long",
    "outbox warning subject=demo",
    /server runs/,
    changed(`update mail_outbox set status = 'waiting', created_at = '${long}'`),
  ],
  ["staff without two-factor", "accounts warning namespace=demo", /two-factor/, none],
  [
    "a key that expires soon",
    "keys warning",
    /^bodega key update app_\w{26} --expires 90d$/,
    changed(`update app_keys set expires_at = '${inDays(20)}'`),
  ],
  [
    "a webhook with waiting deliveries",
    "webhooks warning",
    /^bodega webhook deliveries -n demo whk_\w+ --status waiting$/,
    changed(`update webhook_deliveries set status = 'waiting', created_at = '${long}'`),
  ],
  ["a clock behind the data", "clock error", /timedatectl/, changed(`update events set created_at = '${inDays(1)}'`)],
  ["a secret key that is missing", "secret error", /db rekey/, claimThen((path) => rmSync(path))],
  [
    "another secret key",
    "secret error",
    /db rekey/,
    claimThen((path) => writeFileSync(path, "another secret key".repeat(2))),
  ],
  [
    "a secret that is not random",
    "secret warning subject=BODEGA_SECRET",
    /openssl/,
    env({ BODEGA_SECRET: "secret".repeat(8) }),
  ],
  ["no backup", "backups note", /^bodega db backup$/, none],
  [
    "a replica on the disk of the data",
    "replication warning",
    /another disk/,
    (shop) => writeSettings(shop, `BODEGA_REPLICATE_TO=${shop.dir}/replica`),
  ],
  ["a backup that is old", "backups warning", /^bodega db backup$/, (shop) => auditBackup(shop, -30, "x")],
  [
    "a backup that is older than twice its interval",
    "backups error",
    /^bodega db backup$/,
    (shop) => {
      shop.env.BODEGA_BACKUP_EVERY = "12h";
      return auditBackup(shop, -1.01, "x");
    },
  ],
  [
    "a backup that failed",
    "backups warning",
    /^bodega db backup$/,
    ({ dataDir }) => recordResult(dataDir, "backup", { last_failure: { at: inDays(0), message: "The disk is full." } }),
  ],
];

/** Makes a fault: records the secret key in the database, then changes its file. */
function claimThen(change: (path: string) => void): Fault {
  return async (shop) => {
    await claim(shop);
    change(join(shop.dataDir, "secret.key"));
  };
}

/** Adds a backup of some days ago to the audit log. */
function auditBackup(shop: PreparedShop, days: number, place: string): Promise<void> {
  return tamper(
    shop,
    `insert into audit_log (at, event, actor_kind, request_id, details, hash)
      values ('${inDays(days)}', 'database.backed_up', 'server', 'r', json_object('backup', '${place}'), '')`,
  );
}

test("doctor warns if the file of the last backup is missing or empty, and does not check backups in object storage", async () => {
  const shop = copyShop();
  const find = async (place: string) => {
    await auditBackup(shop, 0, place);
    return (await runDoctor(shop, "--only", "backups")).findings;
  };
  const gone = { severity: "warning", remedy: "bodega db backup" } as const;
  expect(await find(shop.backupFile)).toEqual([]);
  truncateSync(shop.backupFile);
  expect(await find(shop.backupFile)).toMatchObject([gone]);
  expect(await find(join(shop.productFile, "no folder", "shop.tar.gz"))).toMatchObject([gone]);
  expect(await find("s3://bucket/shop.tar.gz")).toEqual([]);
});

test.each(reported)("doctor finds %s, and prints a remedy", async (_name, words, remedy, fault) => {
  const expected = fieldsOf(words);
  const shop = copyShop();
  await fault(shop);
  const { findings, worst, ok } = await runDoctor(shop, "--only", expected.check);
  const [found, ...others] = pick(findings, expected).filter((one) => remedy.test(one.remedy ?? ""));
  expect({ found, others }).toMatchObject({ found: expected, others: [] });
  expect(found?.message).not.toContain("wrong-password");
  if (expected.severity === "error") expect({ worst, ok }).toEqual({ worst: "error", ok: false });
});

test("with -n, doctor checks only one store, not the environment", async () => {
  const shop = copyShop();
  chmodSync(shop.dataDir, 0o755);
  await runHere(["tenant", "create", "other"], shop);
  const { findings, checked } = await runDoctor(shop, "-n", "demo");
  expect(new Set(findings.map(({ namespace }) => namespace))).toEqual(new Set(["demo"]));
  expect(checked.slice(2, 9)).toEqual(["stores", "taxes", "accounts", "keys", "outbox", "webhooks", "payments"]);
});

test("the exit code of doctor is 1 for an error, with --strict also for a warning, and never for a note", async () => {
  const shop = copyShop();
  await claim(shop);
  expect(await runDoctor(shop)).toMatchObject({ code: 0, ok: true, worst: "warning" });
  expect(await runDoctor(shop, "--strict")).toMatchObject({ code: 1, ok: false, worst: "warning" });
  await tamper(shop, "delete from tenants");
  chmodSync(shop.dataDir, 0o700);
  Object.assign(shop.env, { BODEGA_SMTP_URL: shop.smtpUrl });
  expect(await runDoctor(shop, "--strict")).toMatchObject({ code: 0, ok: true, worst: "note" });
  renameSync(join(shop.dataDir, "secret.key"), join(shop.dir, "secret.key"));
  expect(await runDoctor(shop)).toMatchObject({ code: 1, ok: false, worst: "error" });
});

const unusable: [name: string, fault: (shop: PreparedShop) => unknown][] = [
  ["no database", ({ dataDir }) => rmSync(join(dataDir, "bodega.db"))],
  [
    "a file in place of the folder",
    ({ dataDir }) => {
      rmSync(dataDir, { recursive: true });
      writeFileSync(dataDir, "");
    },
  ],
  [
    "a place where no folder can be",
    (shop) => {
      shop.dataDir = join(shop.productFile, "data");
      shop.env.BODEGA_DATA_DIR = shop.dataDir;
    },
  ],
];

test.each(unusable)("doctor reports %s with a remedy, without a crash or a new database", async (_name, fault) => {
  const shop = copyShop();
  await fault(shop);
  const before = existsSync(join(shop.dataDir, "bodega.db"));
  const { code, findings, worst } = await runDoctor(shop, "--fix");
  expect({ code, worst }).toEqual({ code: 1, worst: "error" });
  expect(findings.filter(({ severity, remedy }) => severity === "error" && remedy !== null)).not.toEqual([]);
  expect(existsSync(join(shop.dataDir, "bodega.db"))).toBe(before);
});

test("doctor warns of a server that does not answer, and notes that no server runs", async () => {
  const shop = copyShop();
  const find = async () => (await runDoctor(shop, "--only", "server")).findings;
  expect(await find()).toMatchObject([{ severity: "note", remedy: "bodega serve" }]);
  const lock = await acquireServerLock(shop.dataDir);
  expect(await find()).toMatchObject([{ severity: "warning" }]);
  lock?.close();
});

test("doctor warns of a server of another version", async () => {
  const shop = copyShop();
  const lock = await acquireServerLock(shop.dataDir);
  const status = { version: "0.0.1", pid: 12 };
  const socket = Bun.serve({ unix: join(shop.dataDir, "server.sock"), fetch: () => Response.json(status) });
  const { findings } = await runDoctor(shop, "--only", "server");
  await socket.stop(true);
  lock?.close();
  const [found] = findings;
  expect(found).toMatchObject({ severity: "warning" });
  expect(found?.message).toContain("version 0.0.1");
});

test("doctor reports a libSQL server that does not answer as an error, without its token", async () => {
  const env = { BODEGA_DATABASE_URL: "http://127.0.0.1:1", BODEGA_DATABASE_AUTH_TOKEN: "a-secret-token" };
  const dataDir = makeDir();
  const { code, findings } = await runDoctor({ env: { ...env, BODEGA_DATA_DIR: dataDir } });
  expect(code).toBe(1);
  expect(pick(findings, { check: "database", severity: "error", subject: "127.0.0.1:1" })).toHaveLength(1);
  expect(JSON.stringify(findings)).not.toContain("a-secret-token");
});

test("findings fit the terminal, the most severe first, and a summary follows", async () => {
  const shop = copyShop();
  await claim(shop);
  await tamper(shop, `update mail_outbox set last_error = 'ESOCKET: ' || char(27) || '[31mred'`);
  rmSync(join(shop.dataDir, "secret.key"));
  for (const columns of [40, 200]) {
    const { stdout, stderr } = await runHere(["doctor"], { env: { ...shop.env, NO_COLOR: "1" }, columns });
    expect(stderr).toMatch(/^\d+ checks: 1 error, \d+ warnings, \d+ notes\.$/m);
    expect(stdout).toMatch(/^Environment\n {2}✗ secret:\s/);
    expect(stdout).toContain("\\u001b[31mred");
    // Lines with commands are not wrapped, so that they can be pasted.
    const texts = stdout.split("\n").filter((line) => !line.startsWith("    > ") && line.trim().includes(" "));
    expect(texts.filter((line) => line.length > columns)).toEqual([]);
  }
  const { stdout } = await runHere(["doctor"], { env: shop.env });
  expect(stdout).toContain("\n    > bodega mail retry --all -n demo\n");
});

test("remedies name the database in the same way as the command line", async () => {
  const shop = copyShop();
  const { BODEGA_DATA_DIR: _, ...env } = shop.env;
  const flags = ["--data-dir", shop.dataDir];
  const ending = ` --data-dir '${shop.dataDir}'`;
  const { findings } = await runDoctor({ env }, ...flags);
  const [found] = pick(findings, { check: "outbox", subject: "demo" });
  expect(found?.remedy).toBe(`bodega mail retry --all -n demo${ending}`);
  const restore = expect.stringContaining(`with: bodega db restore BACKUP${ending}`);
  await tamper(shop, "insert into __bodega_migrations values ('9999_future', 'x', 'x')");
  chmodSync(shop.dataDir, 0o755);
  const { stdout, stderr } = await runHere(["doctor", ...flags], { env });
  expect(stdout).toEqual(restore);
  expect(stderr).toEndWith(`Fix what can be fixed with:\n    > bodega doctor --fix${ending}\n`);
  writeFileSync(join(shop.dataDir, "bodega.db"), "no database".repeat(500));
  expect((await runDoctor({ env }, ...flags)).findings.map(({ remedy }) => remedy)).toContainEqual(restore);
});
