import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { migrate, migrationStatus, migrations } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { issueKey } from "../../src/server/modules/app-keys/service.ts";
import { makeDir, openCli } from "../cli/run-bodega.ts";
import { startTestApp } from "../support/app.ts";
import { createClient } from "../support/client.ts";
import { createClock } from "../support/clock.ts";
import { bearer } from "../support/factories.ts";
import { findInconsistencies } from "../support/record-check.ts";

/** A reply of the earlier version that also made the backup. */
interface Reply {
  namespace: string;
  request: string;
  query?: Record<string, string>;
  data: unknown;
  total?: number;
}

// Backup and replies are from the last version with only the first migration. They contain products with and without
// variants and translations, orders of every status, points, and refunds of lines and whole orders, in two currencies.
const backup = join(import.meta.dir, "before-sale", "backup.tar.gz");
const lines = readFileSync(join(import.meta.dir, "before-sale", "replies.ndjson"), "utf8")
  .trim()
  .split("\n");
const replies = lines.map((line) => JSON.parse(line) as Reply);
const namespaces = ["before", "yen"];
/** A clock with the time of the replies. */
const clock = () => createClock(Date.UTC(2030, 0, 15, 13, 0, 1));

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Restores the backup with the command, and opens the database. */
async function restore(): Promise<{ db: Database; report: Record<string, unknown> }> {
  const { dataDir, json } = openCli();
  const copy = join(makeDir(), "backup.tar.gz");
  copyFileSync(backup, copy);
  const report = await json<Record<string, unknown>>("db", "restore", copy, "--yes");
  const db = await openStoreDatabase({ dataDir });
  ends.push(() => db.close());
  return { db, report };
}

async function openApp(db: Database) {
  const app = startTestApp({ db, clock: clock() });
  const calls = new Map(
    await Promise.all(
      namespaces.map(async (namespace) => {
        const key = await issueKey(app.system, { namespace, name: "test", publish: true });
        return [namespace, createClient(app, { namespace, auth: bearer(key) })] as const;
      }),
    ),
  );
  const read = async ({ namespace, request, query }: Reply) => {
    const call = calls.get(namespace) as ReturnType<typeof createClient>;
    return call(request, query ? { query } : {});
  };
  ends.push(() => app.stop());
  return { app, read };
}

/** Returns the rows of a query, as text. */
async function rowsOf(db: Database, sql: string): Promise<unknown[]> {
  return (await db.execute(sql)).rows.map((row) => ({ ...row }));
}

test("a store of an earlier version gives the same replies after the migrations, and has the schema and records of a new store", async () => {
  const { db, report } = await restore();
  expect(report).toMatchObject({ restored: true, missing_migrations: migrations.slice(1).map(({ name }) => name) });
  await expectFailureChangesNothing(db);
  await migrate(db);
  expect((await migrationStatus(db)).every(({ appliedAt }) => appliedAt !== null)).toBe(true);
  expect(await rowsOf(db, "select * from pragma_foreign_key_check")).toEqual([]);
  const fresh = await openStoreDatabase({ dataDir: join(makeDir(), "data") });
  ends.push(() => fresh.close());
  await migrate(fresh);
  const schema =
    "select type, name, tbl_name, sql from sqlite_schema where name not like 'sqlite_%' order by type, name";
  expect(await rowsOf(db, schema)).toEqual(await rowsOf(fresh, schema));

  const { app, read } = await openApp(db);
  for (const reply of replies) {
    const { data, page, error } = await read(reply);
    expect([reply.request, error]).toEqual([reply.request, undefined]);
    // Replies may have new fields. Earlier fields and the lengths of lists must not change.
    expect({ ...reply, data, ...(reply.total !== undefined && { total: page.total }) }).toMatchObject({ ...reply });
  }
  const { ok, inconsistencies } = await findInconsistencies(app.system);
  expect({ ok, inconsistencies }).toEqual({ ok: true, inconsistencies: [] });
});

async function expectFailureChangesNothing(db: Database): Promise<void> {
  const [, sale] = migrations;
  const contents = async () => {
    const tables = await rowsOf(
      db,
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by 1",
    );
    const hash = createHash("sha256");
    for (const { name } of tables as { name: string }[]) {
      if (!name.startsWith("product_search")) hash.update(JSON.stringify(await rowsOf(db, `select * from "${name}"`)));
    }
    return [tables, hash.digest("hex")];
  };
  const before = await contents();
  const broken = { name: "0001_sale", sql: `${sale?.sql}\n--> statement-breakpoint\nINSERT INTO nowhere VALUES (1);` };
  await expect(migrate(db, [migrations[0] as typeof broken, broken])).rejects.toThrow("nowhere");
  expect(await contents()).toEqual(before);
}
