import type { Connection } from "../../db/local/connection.ts";
import { loadMark, loadMarkMessage, loadMarkRemedy } from "../../db/local/restore-marker.ts";
import type { Database } from "../../db/session.ts";
import { unavailable, wrongState } from "../../errors.ts";
import { withCopy } from "../restore/inspect.ts";
import { createCopy, removeCopy, syncCopy } from "./copy-file.ts";
import type { CopyOptions, CopyReport } from "./copy-options.ts";
import { readPages } from "./read-pages.ts";
import { openSnapshot } from "./server-source.ts";
import { type CopyPlan, countRows, insertSql, quote, type ReadRows, readPlan } from "./table-plan.ts";

/**
 * Writes everything that a libSQL server holds at one moment into a new SQLite file, with the same schema, while others
 * go on writing there. No more than a page of a table is in memory.
 * @param targetPath a file that is not there yet; it is whole and on disk when the promise resolves, and gone when it
 * rejects.
 * @throws unavailable when the server cannot be reached, the file cannot be written, or the copy is not sound; conflict when
 * the file is there; wrongState while the server's database is being restored; the signal's reason.
 */
export async function dumpDatabase(db: Database, targetPath: string, options: CopyOptions = {}): Promise<CopyReport> {
  options.signal?.throwIfAborted();
  const source = await openSnapshot(db);
  try {
    const file = await createCopy(targetPath);
    try {
      const report = await fillFile(source.read, file, options).finally(() => file.close());
      await assertSound(targetPath);
      syncCopy(targetPath);
      return report;
    } catch (error) {
      removeCopy(targetPath);
      throw error;
    }
  } finally {
    source.close();
  }
}

async function fillFile(read: ReadRows, file: Connection, { onProgress, signal }: CopyOptions): Promise<CopyReport> {
  const plan = await readPlan(read);
  if (plan.tables.some(({ name }) => name === loadMark)) {
    throw wrongState(loadMarkMessage, { remedy: loadMarkRemedy });
  }
  const counts = await countRows(read, plan.tables);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(done, total);
  file.script("BEGIN");
  makeTables(file, plan);
  for (const table of plan.tables) {
    if (table.kind === "virtual") continue;
    const insert = insertSql(table, 1);
    let rows = 0;
    for await (const page of readPages(read, table)) {
      signal?.throwIfAborted();
      for (const row of page) file.run(insert, row);
      rows += page.length;
      done += page.length;
      onProgress?.(done, total);
    }
    if (rows !== counts.get(table.name)) {
      throw unavailable(`Of ${counts.get(table.name)} rows in ${table.name} the server gave ${rows}.`);
    }
  }
  for (const sql of [...plan.indexes, ...plan.reactions]) {
    signal?.throwIfAborted();
    file.run(sql);
  }
  file.script("COMMIT");
  return { tables: plan.tables.length, rows: done };
}

/** The tables without what comes with them by itself: first words of virtual ones, numbers given in AUTOINCREMENT ones. */
function makeTables(file: Connection, { tables, sequences }: CopyPlan): void {
  for (const { sql, kind } of tables) if (kind !== "shadow") file.run(sql);
  for (const { name, kind } of tables) if (kind === "shadow") file.run(`DELETE FROM ${quote(name)}`);
  // A row's own number raises this one no more, since none is higher.
  for (const { name, last } of sequences)
    file.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [name, last]);
}

/** Looks at a finished copy through a new connection, which knows nothing of how it was made. */
function assertSound(path: string): Promise<void> {
  return withCopy(path, (connection) => {
    const fault = connection.run("PRAGMA integrity_check(1)").rows[0]?.[0];
    if (fault === "ok") return;
    throw unavailable(`The copy is not sound (${fault}). Look at the server's database with: bodega db check`);
  });
}
