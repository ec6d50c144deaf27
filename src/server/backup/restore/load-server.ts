import type { InStatement } from "@libsql/core/api";
import { bindValue } from "../../db/bind-args.ts";
import type { Database } from "../../db/session.ts";
import { conflict, unavailable } from "../../errors.ts";
import type { CopyOptions } from "../copy/dump.ts";
import { readFrom } from "../copy/server-source.ts";
import {
  type CopiedValue,
  type CopyPlan,
  countRows,
  insertSql,
  quote,
  type ReadRows,
  readPages,
  readPlan,
  type TablePlan,
} from "../copy/tables.ts";
import { withCopy } from "./inspect.ts";
import { beginLoading, inspectTarget, type LoadSession } from "./load-target.ts";

const maxParameters = 2000;
/** Written last, because its rows make the database complete. */
const migrationsTable = "__bodega_migrations";

/**
 * Loads a verified SQLite file into a libSQL server's database, in batches. Until it is complete no server accepts the
 * database. A restore that fails leaves an empty database where it can; the next one removes what a killed one left.
 * @param sourcePath a file that nobody writes to.
 * @throws conflict as `inspectTarget`, and when another restore begins; unavailable when the server cannot be reached;
 * the signal's reason.
 */
export async function loadDatabase(sourcePath: string, db: Database, options: CopyOptions = {}): Promise<void> {
  options.signal?.throwIfAborted();
  await withCopy(sourcePath, async (source) => {
    const read: ReadRows = async (sql, args) => source.values(sql, args);
    const plan = await readPlan(read);
    if (!plan.tables.some(({ name }) => name === migrationsTable)) {
      throw conflict(`${sourcePath} is not a Bodega database.`);
    }
    const target = await inspectTarget(db);
    const session = await beginLoading(db, target, plan);
    try {
      await fillTables(read, session, plan, options);
      await session.finish(await lastStatements(read, plan, target.revision));
    } catch (error) {
      await session.abandon().catch(() => {});
      throw error;
    }
  });
}

async function fillTables(read: ReadRows, session: LoadSession, plan: CopyPlan, options: CopyOptions): Promise<void> {
  const { onProgress, signal } = options;
  const tables = plan.tables.filter(({ name, kind }) => kind !== "virtual" && name !== migrationsTable);
  const counts = await countRows(read, tables);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(done, total);
  for (const table of tables) {
    // An empty shadow table makes its virtual table unusable, so the engine's own rows stay until the first ones come.
    let clearing = table.kind === "shadow" ? [`DELETE FROM ${quote(table.name)}`] : [];
    for await (const page of readPages(read, table)) {
      signal?.throwIfAborted();
      await session.write([...clearing, ...insertPage(table, page)]);
      clearing = [];
      done += page.length;
      onProgress?.(done, total);
    }
  }
  signal?.throwIfAborted();
  const loaded = await countRows((sql, args) => readFrom(session.client, sql, args), tables);
  for (const [name, count] of counts) {
    if (loaded.get(name) === count) continue;
    throw unavailable(`The restore is incomplete: the server has ${loaded.get(name)} of ${count} rows of ${name}.`);
  }
}

function insertPage(table: TablePlan, page: CopiedValue[][]): InStatement[] {
  const maxBatch = Math.max(1, Math.floor(maxParameters / table.columns.length));
  const statements: InStatement[] = [];
  for (let at = 0; at < page.length; at += maxBatch) {
    const rows = page.slice(at, at + maxBatch);
    statements.push({ sql: insertSql(table, rows.length), args: rows.flat().map(bindValue) });
  }
  return statements;
}

/** The statements that complete a filled database: triggers, AUTOINCREMENT numbers and migrations. */
async function lastStatements(read: ReadRows, plan: CopyPlan, revision: number): Promise<InStatement[]> {
  const migrations = plan.tables.find(({ name }) => name === migrationsTable) as TablePlan;
  const statements: InStatement[] = ["DELETE FROM sqlite_sequence"];
  for (const { name, last } of plan.sequences) {
    statements.push({ sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", args: [name, bindValue(last)] });
  }
  // A server that knew the database before must notice the change.
  if (revision > 0) statements.push({ sql: "UPDATE revision SET value = value + ?", args: [revision] });
  statements.push(...plan.reactions, migrations.sql);
  for await (const page of readPages(read, migrations)) statements.push(...insertPage(migrations, page));
  return statements;
}
