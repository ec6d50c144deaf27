import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { quote, readPlan } from "../../src/server/backup/copy/tables.ts";
import { withCopy } from "../../src/server/backup/restore/inspect.ts";
import { verifyAudit } from "../../src/server/modules/audit/verify.ts";
import { vault } from "./app.ts";
import { findInconsistencies } from "./record-check.ts";

/** The content of a database file: its schema, and the rows of each table, sorted by key. */
export interface WholeFile {
  schema: string[];
  rows: Record<string, unknown[][]>;
}

/** Runs `work` with a directory that is removed afterwards. */
export async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "bodega-copies-"));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Reads a database file. No process may have it open. */
export function readWhole(path: string): Promise<WholeFile> {
  return withCopy(path, async (connection) => {
    const plan = await readPlan(async (sql, args) => connection.values(sql, args));
    const rows: WholeFile["rows"] = { sqlite_sequence: plan.sequences.map(({ name, last }) => [name, last]) };
    for (const { name, kind, columns, key } of plan.tables) {
      if (kind === "virtual") continue;
      const order = key.map((at) => quote(columns[at] as string)).join();
      rows[name] = connection.values(`select ${columns.map(quote).join()} from ${quote(name)} order by ${order}`);
    }
    const schema = [...plan.tables.map(({ sql }) => sql), ...plan.indexes, ...plan.triggersAndViews].toSorted();
    return { schema, rows };
  });
}

/** Runs all of the program's checks on the database of a directory. Fails if any check finds a problem. */
export async function checkWholeness(dataDir: string): Promise<void> {
  const db = await openStoreDatabase({ dataDir });
  try {
    const { rows } = await db.execute("PRAGMA integrity_check");
    expect(rows.map((row) => row[0])).toEqual(["ok"]);
    expect((await db.execute("PRAGMA foreign_key_check")).rows).toEqual([]);
    const actor = { kind: "terminal", account: "tests" } as const;
    const ctx = { db, actor, vault, requestId: "of-a-test", now: Date.now };
    expect((await findInconsistencies(ctx)).inconsistencies).toEqual([]);
    expect((await verifyAudit(ctx)).intact).toBe(true);
  } finally {
    await db.close();
  }
}
