import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { Database } from "../../src/server/db/session.ts";
import { prepareDatabase } from "../../src/server/runtime/prepare-database.ts";
import { failureOf } from "../support/failure.ts";

const dirs: string[] = [];
const opened: Database[] = [];
const notices: string[] = [];
const log = { request: () => {}, notice: (_: string, message: string) => notices.push(message), flush: async () => {} };
const secret = "a secret from the environment, long enough";

afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  notices.length = 0;
});

async function open(): Promise<Database> {
  const dataDir = mkdtempSync(join(tmpdir(), "bodega-prepare-"));
  dirs.push(dataDir);
  const db = await openStoreDatabase({ dataDir });
  opened.push(db);
  return db;
}

function configure(given: string, more: Record<string, string> = {}) {
  return readConfig({ "data-dir": dirs.at(-1) as string }, { BODEGA_SECRET: given, ...more });
}

test("a server records its change of the schema in the audit log once", async () => {
  const db = await open();
  await prepareDatabase(configure(secret), db, log);
  await prepareDatabase(configure(secret), db, log);
  const { rows } = await db.execute("select event, actor_kind, actor_id from audit_log");
  expect(rows.map(({ event, actor_kind, actor_id }) => [event, actor_kind, actor_id])).toEqual([
    ["database.migrated", "server", null],
  ]);
});

test("a server does not start with another secret key", async () => {
  const db = await open();
  await prepareDatabase(configure(secret), db, log);
  expect(await failureOf(prepareDatabase(configure(`${secret}, another`), db, log))).toMatchObject({ code: 5306 });
});
