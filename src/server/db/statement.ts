import type { InValue } from "@libsql/core/api";
import { is } from "drizzle-orm/entity";
import { and, eq, isNull, Param, Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm/sql";
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { LruCache } from "../values/lru-cache.ts";
import { toTimestamp } from "../values/stamps.ts";
import { type Decoder, nameColumns } from "./selection.ts";
import type { Executor, FirstRow, Result } from "./session.ts";

interface Compiled {
  readonly sql: string;
  /** One entry for each parameter: a fixed value, or the name of a value that the caller passes. */
  readonly slots: readonly Slot[];
  /** Decoders for columns whose values the database stores in another form, such as booleans. */
  readonly decoders: readonly Decoder[];
}

/** A query compiled once to SQL text. `Row` is the type of its rows. */
export interface Statement<Row> {
  readonly compiled: Compiled;
  /** Never set. It only carries the type of the rows. */
  readonly row?: Row;
}

type Slot = { name: string } | { value: unknown };

export type Params = Record<string, unknown>;

const dialect = new SQLiteSyncDialect();

/** A placeholder for a value: `param("id")` in the statement, `{ id }` when the statement runs. */
export function param(name: string): SQL {
  return sql`${sql.placeholder(name)}`;
}

// This instance only builds queries; sessions run them.
const builder = drizzle(() => Promise.reject(new TypeError("A query runs through a session.")));
type Builder = typeof builder;
type BuiltQuery = SQLWrapper & { _: { result: unknown } };
type RowOf<Query extends BuiltQuery> = Query["_"]["result"] extends (infer Row)[] ? Row : never;

/**
 * Creates a statement from a query. The query is compiled at its first use, because a start needs few statements.
 * Values of `param("name")` are bound unchanged, without column encoders.
 * @param query a query of drizzle's builder, which defines names and types of the columns; or a `sql` template, whose
 * columns have their names in the database.
 */
export function statement<Query extends BuiltQuery>(query: (q: Builder) => Query): Statement<RowOf<Query>>;
export function statement<Row = Record<string, unknown>>(query: SQLWrapper): Statement<Row>;
export function statement(query: SQLWrapper | ((q: Builder) => SQLWrapper)): Statement<unknown> {
  let compiled: Compiled | undefined;
  const compile = (): Compiled => {
    const built = typeof query === "function" ? query(builder) : query;
    const decoders = typeof query === "function" ? nameColumns(built) : [];
    const { sql, params } = dialect.sqlToQuery(built.getSQL());
    return { sql, slots: params.map(slotOf), decoders };
  };
  return {
    get compiled() {
      compiled ??= compile();
      return compiled;
    },
  };
}

/** Statements whose text depends on the call. Only those used last are kept, because there may be thousands. */
const statements = new LruCache<unknown>(400);

export function compiledOnce<Row>(name: string, compile: () => Statement<Row>): Statement<Row> {
  return statements.getOrMake(name, compile) as Statement<Row>;
}

/** Returns a statement with its values, for `batch`. Errors: TypeError for a placeholder without a value. */
export function bind(stmt: Statement<unknown>, params: Params = {}): { sql: string; args: InValue[] } {
  const { sql, slots } = stmt.compiled;
  const args: InValue[] = new Array(slots.length);
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as Slot;
    const value = "name" in slot ? params[slot.name] : slot.value;
    if (value === undefined) throw new TypeError(`No value for ${"name" in slot ? slot.name : "a parameter"}.`);
    args[i] = value as InValue;
  }
  return { sql, args };
}

/** Like `bind`, for a query whose first row is enough. On a local file, its result has only that row. */
export function bindFirst(stmt: Statement<unknown>, params?: Params): FirstRow {
  return { ...bind(stmt, params), firstOnly: true };
}

/** Returns the rows of a statement from its result in a batch. */
export function rowsOf<Row>({ compiled: { decoders } }: Statement<Row>, result: Result | undefined): Row[] {
  const rows = (result?.rows ?? []) as Record<string, unknown>[];
  return (decoders.length === 0 ? rows : rows.map((row) => decode(row, decoders))) as Row[];
}

/** Returns all rows. Errors: as `Executor.execute`. */
export async function all<Row>(executor: Executor, stmt: Statement<Row>, params?: Params): Promise<Row[]> {
  return rowsOf(stmt, await executor.execute(bind(stmt, params)));
}

/** Returns the first row; undefined if there is none. */
export async function get<Row>(executor: Executor, stmt: Statement<Row>, params?: Params): Promise<Row | undefined> {
  return rowsOf(stmt, await executor.execute(bindFirst(stmt, params)))[0];
}

/** Runs a write. Returns the number of rows that it changed. */
export async function run(executor: Executor, stmt: Statement<unknown>, params?: Params): Promise<number> {
  return (await executor.execute(bind(stmt, params))).rowsAffected;
}

/** Returns a decoded copy. The row itself must not change, because equal reads of a libSQL server share their rows. */
function decode(row: Record<string, unknown>, decoders: readonly Decoder[]): object {
  const decoded = { ...row };
  for (const { name, decode } of decoders) decoded[name] = row[name] === null ? null : decode(row[name]);
  return decoded;
}

function slotOf(param: unknown): Slot {
  const inner = is(param, Param) ? param.value : param;
  return is(inner, Placeholder) ? { name: inner.name } : { value: inner };
}

export const purgeBatch = 1000;

/** Creates a function that deletes up to a thousand old rows a call. `before` in `isOld` is the time `keptMs` ago. */
export function createPurge(table: SQLiteTable, isOld: SQL, keptMs: number) {
  const removeOld = statement(sql`
    delete from ${table} where rowid in (
      select rowid from ${table} where ${isOld} limit ${sql.raw(String(purgeBatch))})`);
  return (ctx: { db: Executor; now: () => number }): Promise<number> =>
    run(ctx.db, removeOld, { before: toTimestamp(ctx.now() - keptMs) });
}

interface StoreTable {
  tenantId: SQLiteColumn;
}

/** Returns a parameter for each name, for an insert or update whose parameters have the names of its columns. */
export function params<Name extends string>(...names: Name[]): Record<Name, SQL> {
  return Object.fromEntries(names.map((name) => [name, param(name)])) as Record<Name, SQL>;
}

/** Matches rows whose column has the value of the parameter `name`. */
export function equals(column: SQLiteColumn, name: string): SQL {
  return eq(column, param(name));
}

/** Matches the rows of the store `tenantId`. */
export function ofStore(table: StoreTable): SQL {
  return eq(table.tenantId, param("tenantId"));
}

/** Matches the rows of the store `tenantId` that are not deleted. */
export function ofStoreNotDeleted(table: StoreTable & { deletedAt: SQLiteColumn }): SQL {
  return and(ofStore(table), isNull(table.deletedAt)) as SQL;
}

/** Matches the row `id` of the store `tenantId`. */
export function byId(table: StoreTable & { id: SQLiteColumn }): SQL {
  return and(ofStore(table), eq(table.id, param("id"))) as SQL;
}

/** Matches rows of the version `ifMatch`. If `ifMatch` is null, all versions match. */
export function isVersion({ version }: { version: SQLiteColumn }): SQL {
  return sql`${version} = coalesce(${param("ifMatch")}, ${version})`;
}

/** Matches the rows of the user `userId` in the store `tenantId`. */
export function ofUser(table: StoreTable & { userId: SQLiteColumn }): SQL {
  return and(ofStore(table), eq(table.userId, param("userId"))) as SQL;
}

/** Matches the row `id` of the store `tenantId`, unless it is deleted. */
export function notDeleted(table: StoreTable & { id: SQLiteColumn; deletedAt: SQLiteColumn }): SQL {
  return and(byId(table), isNull(table.deletedAt)) as SQL;
}

/** Matches rows whose column has the value of the parameter `name`. If the value is null, all rows match. */
export function matches(column: SQLiteColumn, name: string): SQL {
  return sql`(${param(name)} is null or ${column} = ${param(name)})`;
}
