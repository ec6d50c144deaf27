import type { Client } from "@libsql/core/api";
import { mapServerError } from "../../db/db-errors.ts";
import type { Database } from "../../db/session.ts";
import { unavailable } from "../../errors.ts";

export type ReadRows = (sql: string, args?: CopiedValue[]) => Promise<CopiedValue[][]>;

export type CopiedValue = null | string | number | bigint | Uint8Array | ArrayBuffer;

export interface TablePlan {
  name: string;
  sql: string;
  /** A virtual table creates its shadow tables, which store its rows. */
  kind: "table" | "virtual" | "shadow";
  /** All columns except generated ones, and the rowid if no column is an alias of it. */
  columns: string[];
  /** Positions of the key's columns in `columns`. Rows are read in the order of the key. */
  key: number[];
}

export interface CopyPlan {
  tables: TablePlan[];
  indexes: string[];
  /** Triggers and views, created last so that no trigger fires for copied rows. */
  triggersAndViews: string[];
  /** The highest number that each AUTOINCREMENT table has ever assigned, even if that row was deleted. */
  sequences: { name: string; last: CopiedValue }[];
}

const selectObjects = `SELECT type, name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'libsql%' ORDER BY rowid`;
const selectTables = "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'";
// Generated columns, which SQLite marks as `hidden`, are not copied: SQLite computes them again in the copy.
const selectColumns = `SELECT m.name, c.name, c.pk, c.type FROM sqlite_schema m, pragma_table_xinfo(m.name) c
  WHERE m.type = 'table' AND c.hidden = 0 ORDER BY m.rowid, c.cid`;
const hasSequences = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'";

export async function readPlan(read: ReadRows): Promise<CopyPlan> {
  const kinds = new Map((await read(selectTables)).map(([name, type, wr]) => [name, { type, hasRowid: !Number(wr) }]));
  const columns = Map.groupBy(await read(selectColumns), ([table]) => table);
  const plan: CopyPlan = { tables: [], indexes: [], triggersAndViews: [], sequences: [] };
  for (const [type, name, text] of await read(selectObjects)) {
    const sql = String(text);
    if (type === "index") plan.indexes.push(sql);
    else if (type !== "table") plan.triggersAndViews.push(sql);
    else {
      const { type: kind, hasRowid } = kinds.get(name) ?? { type: "table", hasRowid: true };
      const shape = planColumns(columns.get(name) ?? [], hasRowid);
      plan.tables.push({ name: String(name), sql, kind: kind as TablePlan["kind"], ...shape });
    }
  }
  if ((await read(hasSequences)).length > 0) {
    const rows = await read("SELECT name, seq FROM sqlite_sequence ORDER BY name");
    plan.sequences = rows.map(([name, last]) => ({ name: String(name), last: last as CopiedValue }));
  }
  return plan;
}

export async function countRows(read: ReadRows, tables: readonly TablePlan[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name, kind } of tables) {
    if (kind === "virtual") continue;
    counts.set(name, Number((await read(`SELECT count(*) FROM ${quote(name)}`))[0]?.[0]));
  }
  return counts;
}

function pageSql({ name, columns, key }: TablePlan, limit: number, isFirst: boolean): string {
  const names = key.map((at) => quote(columns[at] as string)).join(", ");
  const after = isFirst ? "" : ` WHERE (${names}) > (${key.map(() => "?").join(", ")})`;
  return `SELECT ${columns.map(quote).join(", ")} FROM ${quote(name)}${after} ORDER BY ${names} LIMIT ${limit}`;
}

export function insertSql({ name, columns }: TablePlan, rows: number): string {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const values = new Array(rows).fill(row).join(", ");
  return `INSERT INTO ${quote(name)} (${columns.map(quote).join(", ")}) VALUES ${values}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the columns to copy and their key. `pk` is the position of a column in the primary key, or 0. */
function planColumns(rows: CopiedValue[][], hasRowid: boolean): Pick<TablePlan, "columns" | "key"> {
  const columns = rows.map(([, name, pk, type]) => ({ name: String(name), pk: Number(pk), type: String(type) }));
  const names = columns.map(({ name }) => name);
  const primary = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const isAlias = primary.length === 1 && primary[0]?.type.toUpperCase() === "INTEGER";
  if (hasRowid && !isAlias) return { columns: ["rowid", ...names], key: [0] };
  return { columns: names, key: primary.map(({ name }) => names.indexOf(name)) };
}

const maxRows = 1000;
const firstRows = 100;
/** The intended size of a page; a libSQL server refuses to answer with more than ten times as much. */
const pageBytes = 1024 * 1024;

/** Reads a table page by page, so that at most one page is in memory. Pages of large rows have fewer rows. */
export async function* readPages(read: ReadRows, table: TablePlan): AsyncGenerator<CopiedValue[][]> {
  let limit = firstRows;
  let after: CopiedValue[] | undefined;
  for (;;) {
    let page: CopiedValue[][];
    try {
      page = await read(pageSql(table, limit, after === undefined), after);
    } catch (error) {
      if (limit === 1 || (error as { code?: string } | undefined)?.code !== "RESPONSE_TOO_LARGE") throw error;
      limit = Math.floor(limit / 2);
      continue;
    }
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    const last = page.at(-1) as CopiedValue[];
    after = table.key.map((at) => last[at] as CopiedValue);
    limit = Math.min(maxRows, Math.max(1, Math.floor((page.length * pageBytes) / sizeOf(page))));
  }
}

export interface CopyOptions {
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** Copies all tables except virtual ones. `write` is called with a page and the number of rows already written. */
export async function copyRows(
  read: ReadRows,
  tables: readonly TablePlan[],
  write: (table: TablePlan, page: CopiedValue[][], before: number) => Promise<void> | void,
  { onProgress, signal }: CopyOptions,
): Promise<Map<string, number>> {
  const counts = await countRows(read, tables);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  onProgress?.(done, total);
  for (const table of tables) {
    const count = counts.get(table.name);
    if (count === undefined) continue;
    let rows = 0;
    for await (const page of readPages(read, table)) {
      signal?.throwIfAborted();
      await write(table, page, rows);
      rows += page.length;
      onProgress?.(done + rows, total);
    }
    done += rows;
    if (rows !== count) throw unavailable(`Only ${rows} of ${count} rows of ${table.name} could be read. Try again.`);
  }
  signal?.throwIfAborted();
  return counts;
}

function sizeOf(rows: readonly CopiedValue[][]): number {
  let bytes = 1;
  for (const value of rows.flat()) {
    if (typeof value === "string") bytes += value.length;
    else if (value instanceof ArrayBuffer || value instanceof Uint8Array) bytes += value.byteLength;
    else bytes += 8;
  }
  return bytes;
}

/** Returns a client that reads integers exactly and whose calls may take minutes. */
export function copyClientOf(db: Database): Client {
  const client = db.copyClient?.();
  if (client === undefined) throw new TypeError("Only a database server can be copied this way.");
  return client;
}

/** Opens a snapshot of a server's database. The snapshot expires unless a page is read every few seconds. */
export async function openSnapshot(db: Database): Promise<{ read: ReadRows; close(): void }> {
  try {
    const transaction = await copyClientOf(db).transaction("read");
    await transaction.execute("SELECT 1 FROM sqlite_schema LIMIT 1");
    return { read: (sql, args) => readFrom(transaction, sql, args), close: () => transaction.close() };
  } catch (error) {
    throw mapServerError(error);
  }
}

/** Reads rows as lists. Maps errors of the server, except `RESPONSE_TOO_LARGE`. */
export async function readFrom(source: Pick<Client, "execute">, sql: string, args: CopiedValue[] = []) {
  try {
    const { rows } = await source.execute({ sql, args });
    return rows.map((row) => Array.from(row) as CopiedValue[]);
  } catch (error) {
    throw mapServerError(error);
  }
}
