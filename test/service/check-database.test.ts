import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeContext } from "../../src/cli/context/context.ts";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { copyDatabase, migrate, restoreMarker } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { openFileReader } from "../../src/server/health/database/reader.ts";
import { type DoctorOptions, environmentChecks, runDoctor } from "../../src/server/health/doctor.ts";
import { startTestApp } from "../support/app.ts";
import { canTest, openTestDatabase } from "../support/backend.ts";
import { createShop } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { actOn, makeOrder } from "../support/orders.ts";

const options: DoctorOptions = {
  skip: environmentChecks,
  deps: {
    ...{ now: Date.now, env: {}, version: "0.0.0-test", uid: undefined, timeoutMs: 5000 },
    command: (words: string) => `bodega ${words}`,
    makeContext,
  },
};
const pageBytes = 4096;
/** How many random damages the test tries. */
const trials = Number(process.env.BODEGA_TEST_DAMAGES ?? 8);
let dir: string;
let sound: string;
let folders = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "bodega-check-"));
  const db = await openStoreDatabase({ dataDir: join(dir, "source") });
  await migrate(db);
  const app = startTestApp({ db });
  const shop = await createShop(app);
  const lamp = await shop.createProduct({ title: "Lamp", stock: 50 });
  for (let index = 0; index < 30; index++) await shop.createProduct({ title: `Chair ${index}`, sku: `C-${index}` });
  await actOn(shop, await makeOrder(shop, [{ product_id: lamp.id }]), "pay");
  await app.stop();
  sound = join(dir, "sound.db");
  await copyDatabase(join(dir, "source", "bodega.db"), sound);
  await db.close();
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Creates a data directory with a copy of the intact database. */
function makeDataDir(): { dataDir: string; path: string } {
  folders += 1;
  const dataDir = join(dir, `data-${folders}`);
  mkdirSync(dataDir, { mode: 0o700 });
  const path = join(dataDir, "bodega.db");
  copyFileSync(sound, path);
  return { dataDir, path };
}

const check = (dataDir: string) => runDoctor(readConfig({ "data-dir": dataDir }, {}), options);

/** Returns the findings about the database, a line for each. */
async function findingsOf(dataDir: string): Promise<string[]> {
  const { findings, ok, worst } = await check(dataDir);
  expect(ok).toBe(worst !== "error");
  for (const { message, remedy, severity } of findings) {
    expect(message).not.toMatch(/\n|SQLITE_|Error:/);
    if (severity === "error") expect(remedy).toMatch(/\S/);
  }
  return findings
    .filter(({ group }) => group === "database")
    .map((one) => `${one.severity}: ${one.check}: ${one.message}`);
}

/** Changes a database in a way in which the program itself never changes it. */
async function tamper(dataDir: string, ...statements: string[]): Promise<void> {
  const db = await openStoreDatabase({ dataDir });
  await db.migrate(statements);
  await db.close();
}

test("if a changed bit makes a text invalid, in any column, the check reports the text", async () => {
  const { dataDir, path } = makeDataDir();
  const bytes = readFileSync(sound);
  const tables = new Set<string>();
  for (let at = bytes.indexOf("Chair 23"); at !== -1; at = bytes.indexOf("Chair 23", at + 1)) {
    const changed = Buffer.from(bytes);
    changed[at + 2] = (changed[at + 2] as number) ^ 0x80;
    writeFileSync(path, changed);
    const findings = await findingsOf(dataDir);
    const found = /^error: text: Table (\w+) has a text that is not UTF-8/.exec(findings[0] ?? "");
    if (found) tables.add(found[1] as string);
  }
  expect([...tables]).toContain("products");
});

test("a changed bit in the stored reply of a product is reported", async () => {
  const { dataDir, path } = makeDataDir();
  const bytes = readFileSync(sound);
  const at = bytes.indexOf('"title":"Chair 23"') + '"title":"'.length;
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
  const { findings } = await check(dataDir);
  const message = expect.stringMatching(/^reply of prod_\w+ in store \S+ is another text and should be the one of its/);
  expect(findings).toMatchObject([{ check: "replies", severity: "error", message, fixable: false }]);
});

describe("every kind of damage is reported:", () => {
  const cut = (length: number) => (path: string) => writeFileSync(path, readFileSync(sound).subarray(0, length));
  const overwrite = (page: number, from: number, text: string) => (path: string) => {
    const bytes = readFileSync(sound);
    bytes.write(text, (page - 1) * pageBytes + from, "latin1");
    writeFileSync(path, bytes);
  };
  const half = () => cut(Math.floor(readFileSync(sound).length / 2));

  const replaceByDirectory = (path: string) => {
    rmSync(path);
    mkdirSync(path);
  };
  const another = (path: string) => writeFileSync(path, "x".repeat(9000));

  test.each<[string, (path: string) => void, RegExp]>([
    ["a directory in its place", replaceByDirectory, /^error: file: .* is a directory\.$/],
    ["no bytes at all", (path) => writeFileSync(path, ""), /^error: file: .* is empty: 0 bytes\.$/m],
    ["another kind of file", another, /^error: (?:file|integrity): .* not a database\.$/m],
    ["only the first bytes of a database", cut(16), /^error: (?:file|integrity): .* cannot be (?:opened|read): /m],
    ["half of it", (path) => half()(path), /^error: file: .* cannot be opened: /m],
    [
      "a header with a wrong number of pages",
      overwrite(1, 28, "\x7f\xff\xff\xff"),
      /^error: file: .* cannot be opened: /m,
    ],
    ["a schema that is not SQL", overwrite(1, 105, "\xff".repeat(200)), /^error: (?:file|integrity): /m],
  ])("%s", async (_, damage, says) => {
    const { dataDir, path } = makeDataDir();
    damage(path);
    expect((await findingsOf(dataDir)).join("\n")).toMatch(says);
  });

  test("randomly changed bytes are reported", async () => {
    const { dataDir, path } = makeDataDir();
    const pages = readFileSync(sound).length / pageBytes;
    let found = 0;
    let seed = 1;
    const next = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let trial = 0; trial < trials; trial++) {
      const bytes = readFileSync(sound);
      const at = (1 + next(pages - 1)) * pageBytes + next(6);
      for (let index = 0; index < 24; index++) bytes[at + index] = next(256);
      for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
      writeFileSync(path, bytes);
      if ((await findingsOf(dataDir)).length > 0) found += 1;
    }
    expect(found).toBeGreaterThan(trials / 2);
  });

  test("values that a CHECK forbids are reported", async () => {
    const { dataDir } = makeDataDir();
    await tamper(dataDir, "pragma ignore_check_constraints = on", "update orders set status = 'odd'");
    expect(await findingsOf(dataDir)).toEqual([
      "error: integrity: The database is damaged: CHECK constraint failed in orders.",
    ]);
  });
});

test("each missing, altered or additional table, index and trigger is named", async () => {
  const { dataDir } = makeDataDir();
  await tamper(
    dataDir,
    "drop index events_by_tenant",
    "drop table view_dedup_keys",
    "drop trigger reward_entries_kept",
    "drop trigger reward_entries_unchanged",
    "create trigger reward_entries_unchanged before update on reward_entries begin select 1; end",
    "alter table wishlist_items add column hint text",
    "create table diary (day text)",
    "create trigger spy after insert on users begin select 1; end",
    "create index diary_by_day on diary (day)",
  );
  expect(await findingsOf(dataDir)).toEqual([
    "error: schema: The index events_by_tenant of events is missing.",
    "error: schema: The table view_dedup_keys is missing.",
    "error: schema: The table wishlist_items differs from the migrations.",
    "error: schema: The trigger reward_entries_kept of reward_entries is missing.",
    "error: schema: The trigger reward_entries_unchanged of reward_entries differs from the migrations.",
    "error: schema: The trigger spy of users was not created by a migration.",
    "warning: schema: The index diary_by_day of diary was not created by a migration.",
    "warning: schema: The table diary was not created by a migration.",
  ]);
});

test("for the database of another program, the check reports only that", async () => {
  const { dataDir, path } = makeDataDir();
  rmSync(path);
  await tamper(dataDir, "create table diary (day text)", "create index diary_by_day on diary (day)");
  expect(await findingsOf(dataDir)).toEqual([
    "error: schema: The database belongs to another program: it has its tables, such as diary.",
  ]);
});

test("rows that refer to missing rows are reported by table", async () => {
  const { dataDir } = makeDataDir();
  await tamper(
    dataDir,
    "insert into push_counts (tenant_id, registrations) values ('ten_gone', 0), ('ten_gone_too', 0)",
  );
  expect(await findingsOf(dataDir)).toEqual([
    expect.stringMatching(/^error: references: 2 rows of push_counts refer to missing rows of tenants, .* row \d+\.$/),
  ]);
});

test("a long check of the database writes nothing, blocks no writer, and does not delay the checkpointer", async () => {
  const { dataDir, path } = makeDataDir();
  const db = (await openStoreDatabase({ dataDir })) as FileDatabase;
  const reader = await openFileReader(path);
  const write = () => db.execute("update products set stock = stock + 1 where title = 'Lamp'");
  await write();
  await reader.query("PRAGMA integrity_check");
  expect(String(await failureOf(reader.query("delete from orders")))).toMatch(/readonly|cannot be written/);
  await write();
  expect(await db.checkpoint()).toBe(false);
  await reader.close();
  expect(db.walBytes()).toBeGreaterThan(0);
  expect(await db.checkpoint()).toBe(true);
  expect((await check(dataDir)).ok).toBe(true);
  await db.close();
});

describe.if(canTest("server"))("a libSQL server", () => {
  let db: Database;
  let close: () => Promise<void>;
  let url: string;

  beforeEach(async () => {
    ({ db, close, url = "" } = await openTestDatabase("server"));
  }, 30_000);
  afterEach(() => close());

  const checkServer = () =>
    runDoctor(readConfig({ "data-dir": join(dir, "nothing"), "database-url": url }, {}), options);

  test("a check of a libSQL server checks everything except the file", async () => {
    const { ok, checked, findings } = await checkServer();
    expect({ ok, findings }).toEqual({ ok: true, findings: [] });
    expect(checked.slice(0, 4)).toEqual(["integrity", "references", "schema", "states"]);
    await db.migrate([
      "drop index events_by_tenant",
      "insert into push_counts (tenant_id, registrations) values ('ten_gone', 0)",
    ]);
    expect((await checkServer()).findings.map(({ message }) => message)).toEqual([
      "1 row of push_counts refers to missing rows of tenants, the first of them row 1.",
      "The index events_by_tenant of events is missing.",
    ]);
  });

  test("a check of an incomplete restore reports nothing else", async () => {
    await db.migrate([
      "delete from push_counts",
      `create table ${restoreMarker} (id integer)`,
      "drop table __bodega_migrations",
    ]);
    const { findings } = await checkServer();
    expect(findings.map(({ subject, remedy }) => [subject, remedy])).toEqual([
      [restoreMarker, expect.stringContaining("start the restore again")],
    ]);
  });
});
