import { closeSync, openSync } from "node:fs";
import { Connection } from "../../db/local/connection.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { restoreMarker, restoreRunning } from "../../db/migrate.ts";
import type { Database } from "../../db/session.ts";
import {
  type CopiedValue,
  type CopyOptions,
  copyRows,
  insertSql,
  openSnapshot,
  quote,
  type ReadRows,
  readPlan,
  type TablePlan,
} from "./tables.ts";

const cacheKiB = 64 * 1024;
// Nothing is checked or synced: rows are verified after the copy, and need not be durable before the one COMMIT.
const pragmas = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF";

/**
 * Writes a snapshot of a libSQL server to a new SQLite file, with at most one page of a table in memory. After an
 * error, the file is incomplete.
 * @throws unavailable for the server; wrongState during a restore.
 */
export async function dumpDatabase(db: Database, targetPath: string, options: CopyOptions = {}): Promise<void> {
  options.signal?.throwIfAborted();
  const source = await openSnapshot(db);
  try {
    closeSync(openSync(targetPath, "wx", 0o600));
    const file = new Connection(await loadLibsql(), targetPath, { keepFormat: true, cacheKiB });
    file.script(pragmas);
    await fillFile(source.read, file, options).finally(() => file.close());
  } finally {
    source.close();
  }
}

async function fillFile(read: ReadRows, file: Connection, options: CopyOptions): Promise<void> {
  const plan = await readPlan(read);
  if (plan.tables.some(({ name }) => name === restoreMarker)) throw restoreRunning();
  file.script("BEGIN");
  for (const { sql, kind } of plan.tables) if (kind !== "shadow") file.run(sql);
  // SQLite itself has added rows to new shadow tables. The server's rows replace them.
  for (const { name, kind } of plan.tables) if (kind === "shadow") file.run(`DELETE FROM ${quote(name)}`);
  for (const { name, last } of plan.sequences)
    file.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [name, last]);
  const insert = (table: TablePlan, page: CopiedValue[][]) => {
    const sql = insertSql(table, 1);
    for (const row of page) file.run(sql, row);
  };
  await copyRows(read, plan.tables, insert, options);
  for (const sql of [...plan.indexes, ...plan.triggersAndViews]) {
    options.signal?.throwIfAborted();
    file.run(sql);
  }
  file.script("COMMIT");
}
