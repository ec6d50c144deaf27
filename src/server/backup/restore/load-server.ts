import type { InStatement } from "@libsql/core/api";
import { bindValue } from "../../db/bind-args.ts";
import { buildSchema } from "../../db/build-schema.ts";
import { migrations, restoreMarker } from "../../db/migrate.ts";
import type { Database } from "../../db/session.ts";
import { type AppError, conflict, unavailable } from "../../errors.ts";
import {
  type CopiedValue,
  type CopyOptions,
  type CopyPlan,
  copyClientOf,
  copyRows,
  countRows,
  insertSql,
  quote,
  type ReadRows,
  readFrom,
  readPages,
  readPlan,
  type TablePlan,
} from "../copy/tables.ts";
import { withCopy } from "./inspect.ts";

const maxParameters = 2000;
/** This table is written last, because its rows mark the database as complete. */
const migrationsTable = "__bodega_migrations";

/**
 * Loads a verified SQLite file into a libSQL server's database. No server accepts the database until it is complete.
 * @throws conflict as `inspectTarget`; unavailable when the server cannot be reached.
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
      const tables = plan.tables.filter(({ name, kind }) => kind !== "virtual" && name !== migrationsTable);
      const write = (table: TablePlan, page: CopiedValue[][], before: number) => {
        // An empty shadow table makes its virtual table unusable. So SQLite's rows are deleted with the first insert.
        const clearing = table.kind === "shadow" && before === 0 ? [`DELETE FROM ${quote(table.name)}`] : [];
        return session.write([...clearing, ...insertPage(table, page)]);
      };
      const counts = await copyRows(read, tables, write, options);
      const loaded = await countRows((sql, args) => readFrom(session.client, sql, args), tables);
      for (const [name, count] of counts) {
        if (loaded.get(name) === count) continue;
        throw unavailable(`The restore is incomplete: the server has ${loaded.get(name)} of ${count} rows of ${name}.`);
      }
      await session.finish(await lastStatements(read, plan, target.revision));
    } catch (error) {
      await session.abandon().catch(() => {});
      throw error;
    }
  });
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

async function lastStatements(read: ReadRows, plan: CopyPlan, revision: number): Promise<InStatement[]> {
  const migrations = plan.tables.find(({ name }) => name === migrationsTable) as TablePlan;
  const statements: InStatement[] = ["DELETE FROM sqlite_sequence"];
  for (const { name, last } of plan.sequences) {
    statements.push({ sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", args: [name, bindValue(last)] });
  }
  // The revision grows, so that a server that used the old database notices that its caches are out of date.
  if (revision > 0) statements.push({ sql: "UPDATE revision SET value = value + ?", args: [revision] });
  statements.push(...plan.triggersAndViews, migrations.sql);
  for await (const page of readPages(read, migrations)) statements.push(...insertPage(migrations, page));
  return statements;
}

const selectTables = `SELECT l.name, l.type FROM pragma_table_list l WHERE l.schema = 'main'
  AND l.name NOT LIKE 'sqlite%' AND l.name NOT LIKE 'libsql%'`;
// Audit entries count as data too: those of a deleted store remain in the database.
const selectUse = `SELECT (SELECT count(*) FROM tenants) AS stores,
  (SELECT count(*) FROM (SELECT 1 FROM audit_log WHERE namespace IS NOT NULL LIMIT 1)) AS history,
  (SELECT value FROM revision WHERE id = 1) AS revision`;

// A batch cannot act on what it reads. If the database is in use, a 0 violates the CHECK, which aborts the batch.
const createMarker = `CREATE TABLE ${restoreMarker} (is_unused INTEGER NOT NULL CHECK (is_unused = 1))`;
const assertUnused = `INSERT INTO ${restoreMarker} SELECT count(*) = 0 FROM tenants`;

/**
 * Throws conflict if the database contains a store or tables of another program.
 * @returns `clearing`: statements that drop its tables; `revision`: its present revision, which must not be used again.
 */
export async function inspectTarget(db: Database) {
  const { rows } = await db.execute(selectTables);
  const tables = rows.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  // Dropping a table drops its indexes and triggers; dropping a virtual one drops its shadow tables.
  const clearing = tables
    .filter(({ name, type }) => name !== restoreMarker && type !== "shadow")
    .map(({ name, type }) => `DROP ${type === "view" ? "VIEW" : "TABLE"} ${quote(name)}`);
  if (tables.length === 0) return { state: "empty" as const, clearing, revision: 0 };
  const names = new Set(tables.map(({ name }) => name));
  if (names.has(restoreMarker)) return { state: "interrupted" as const, clearing, revision: 0 };
  const known = new Set((await buildSchema(migrations)).map(({ name }) => name));
  const isOurs = ["__bodega_migrations", "tenants", "audit_log", "revision"].every((one) => names.has(one));
  const foreign = tables.find(({ name }) => !known.has(name));
  if (foreign !== undefined || !isOurs) {
    throw refusal(`The database contains tables of another program${foreign ? ` (${foreign.name})` : ""}.`);
  }
  const use = (await db.execute(selectUse)).rows[0];
  if (Number(use?.stores) > 0) throw refusal(`The database contains stores (${use?.stores}).`);
  if (Number(use?.history) > 0) throw refusal("The database contains the audit log of removed stores.");
  return { state: "fresh" as const, clearing, revision: Number(use?.revision ?? 0) };
}

/**
 * Creates tables and indexes in one transaction. Creating indexes at the end could take longer than the server's time
 * limit.
 * @throws conflict if another program changes the database, also during later writes; unavailable if the server fails.
 */
async function beginLoading(db: Database, target: Awaited<ReturnType<typeof inspectTarget>>, plan: CopyPlan) {
  const client = copyClientOf(db);
  const created = plan.tables.filter(({ name, kind }) => kind !== "shadow" && name !== "__bodega_migrations");
  const write = async (statements: InStatement[]) => {
    try {
      await db.migrate(statements);
    } catch (error) {
      if (!/(CHECK|UNIQUE) constraint failed|already exists|no such table/.test(String(error))) throw error;
      const remedy = "Stop all servers and other restores of this database and try again.";
      throw conflict("Another program changed the database during the restore.", { cause: error, remedy });
    }
  };
  const marking = { interrupted: [], fresh: [createMarker, assertUnused], empty: [createMarker] }[target.state];
  await write([...marking, ...target.clearing, ...created.map(({ sql }) => sql), ...plan.indexes]);
  const dropMarker = `DROP TABLE ${restoreMarker}`;
  return {
    client,
    write,
    finish: (statements: InStatement[]) => write([...statements, dropMarker]),
    abandon: () => write([...created.map(({ name }) => `DROP TABLE ${quote(name)}`), dropMarker]),
  };
}

function refusal(message: string): AppError {
  return conflict(message, { remedy: "Set --database-url to a new, empty database." });
}
