import type { InStatement } from "@libsql/core/api";
import { bindValue } from "../../db/bind-args.ts";
import type { Database } from "../../db/session.ts";
import { conflict, unavailable } from "../../errors.ts";
import { readThrough } from "../copy/copy-file.ts";
import type { CopyOptions, CopyReport } from "../copy/copy-options.ts";
import { readPages } from "../copy/read-pages.ts";
import { readFrom } from "../copy/server-source.ts";
import {
  type CopiedValue,
  type CopyPlan,
  countRows,
  insertSql,
  quote,
  type ReadRows,
  readPlan,
  type TablePlan,
} from "../copy/table-plan.ts";
import { withCopy } from "./inspect.ts";
import { inspectTarget } from "./load-target.ts";
import { beginLoading, type Loading } from "./loading.ts";

const maxParameters = 2000;
/** The table whose rows say that a database is whole: it comes last. */
const migrationsTable = "__bodega_migrations";

/**
 * Looks whether a libSQL server's database may be filled from a file: it is empty, has the schema and no stores, or holds
 * what a load that was cut short has left.
 * @throws conflict when it holds anything else.
 */
export async function assertLoadable(db: Database): Promise<void> {
  await inspectTarget(db);
}

/**
 * Fills a libSQL server's database with what a sound SQLite file of ours holds, in portions. Until it is done no server
 * takes the database for one of its own. A load that fails leaves an empty database where it still can; what one has left
 * that was killed is removed by the next.
 * @param sourcePath a file that nobody writes to meanwhile.
 * @throws conflict as `assertLoadable`, and when another load begins; unavailable when the server cannot be reached; the
 * signal's reason.
 */
export async function loadDatabase(sourcePath: string, db: Database, options: CopyOptions = {}): Promise<CopyReport> {
  options.signal?.throwIfAborted();
  return withCopy(sourcePath, async (source) => {
    const read = readThrough(source);
    const plan = await readPlan(read);
    if (!plan.tables.some(({ name }) => name === migrationsTable)) {
      throw conflict(`${sourcePath} holds no database of Bodega.`, { remedy: "Name a backup of one." });
    }
    const target = await inspectTarget(db);
    const loading = await beginLoading(db, target, plan);
    try {
      const rows = await fillTables(read, loading, plan, options);
      await loading.finish(await lastStatements(read, plan, target.revision));
      return { tables: plan.tables.length, rows };
    } catch (error) {
      await loading.abandon().catch(() => {});
      throw error;
    }
  });
}

async function fillTables(read: ReadRows, loading: Loading, plan: CopyPlan, options: CopyOptions): Promise<number> {
  const { onProgress, signal } = options;
  const tables = plan.tables.filter(({ name, kind }) => kind !== "virtual" && name !== migrationsTable);
  const counts = await countRows(read, tables);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(done, total);
  for (const table of tables) {
    let clearing = clearingOf(table);
    for await (const page of readPages(read, table)) {
      signal?.throwIfAborted();
      await loading.write([...clearing, ...insertPage(table, page)]);
      clearing = [];
      done += page.length;
      onProgress?.(done, total);
    }
  }
  signal?.throwIfAborted();
  const there = await countRows((sql, args) => readFrom(loading.client, sql, args), tables);
  for (const [name, count] of counts) {
    if (there.get(name) === count) continue;
    throw unavailable(`Of ${count} rows in ${name} the server has ${there.get(name)}.`);
  }
  return done;
}

function insertPage(table: TablePlan, page: CopiedValue[][]): InStatement[] {
  const most = Math.max(1, Math.floor(maxParameters / table.columns.length));
  const statements: InStatement[] = [];
  for (let at = 0; at < page.length; at += most) {
    const rows = page.slice(at, at + most);
    statements.push({ sql: insertSql(table, rows.length), args: rows.flat().map(bindValue) });
  }
  return statements;
}

// A virtual table that has nothing in these cannot be opened any more, and so not be removed: what the engine has put into
// them stays until the first rows come.
function clearingOf({ name, kind }: TablePlan): InStatement[] {
  return kind === "shadow" ? [`DELETE FROM ${quote(name)}`] : [];
}

/** What makes a filled database a whole one: triggers, the numbers given so far, and the migrations that it has. */
async function lastStatements(read: ReadRows, plan: CopyPlan, revision: number): Promise<InStatement[]> {
  const migrations = plan.tables.find(({ name }) => name === migrationsTable) as TablePlan;
  const statements: InStatement[] = ["DELETE FROM sqlite_sequence"];
  for (const { name, last } of plan.sequences) {
    statements.push({ sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", args: [name, bindValue(last)] });
  }
  // A server that knew the database before must not find the value that it remembers.
  if (revision > 0) statements.push({ sql: "UPDATE revision SET value = value + ?", args: [revision] });
  statements.push(...plan.reactions, migrations.sql);
  for await (const page of readPages(read, migrations)) statements.push(...insertPage(migrations, page));
  return statements;
}
