import type { InValue } from "@libsql/core/api";
import { is } from "drizzle-orm/entity";
import { Param, Placeholder, type SQLWrapper, sql } from "drizzle-orm/sql";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { LruCache } from "../values/lru-cache.ts";
import type { Executor, Marks } from "./session.ts";

interface Compiled {
  readonly sql: string;
  /** One entry per parameter: a value fixed at compile time, or the name that a caller fills. */
  readonly slots: readonly Slot[];
}

/** A query compiled once to SQL text. `Row` is the type of its rows; columns have their names in the database. */
export interface CompiledStatement<Row> extends Compiled {
  /** Never set; carries the type of the rows. */
  readonly row?: Row;
}

type Slot = { name: string } | { value: unknown };

export type Params = Record<string, unknown>;

const dialect = new SQLiteSyncDialect();

/** A value that the caller fills at each call: `param("id")` in a statement's text, `{ id }` when it runs. */
export const param = sql.placeholder;

/**
 * A drizzle `sql` template or query builder, compiled once, at its first use, because a start needs few of them. Callers'
 * values are `param("name")` and are bound unchanged: column encoders do not apply to them.
 */
export function statement<Row = Record<string, unknown>>(query: SQLWrapper): CompiledStatement<Row> {
  let compiled: Compiled | undefined;
  const compile = () => {
    const { sql, params } = dialect.sqlToQuery(query.getSQL());
    compiled = { sql, slots: params.map(slotOf) };
    return compiled;
  };
  return {
    get sql() {
      return (compiled ?? compile()).sql;
    },
    get slots() {
      return (compiled ?? compile()).slots;
    },
  };
}

/** The last compiled statements whose text depends on a call; thousands are possible. */
const statements = new LruCache<unknown>(400);

export function compiledOnce<Row>(name: string, compile: () => CompiledStatement<Row>): CompiledStatement<Row> {
  return statements.getOrMake(name, compile) as CompiledStatement<Row>;
}

/** The statement with its values, for `batch`. Errors: TypeError for a placeholder without a value. */
export function bind(stmt: CompiledStatement<unknown>, params: Params = {}): { sql: string; args: InValue[] } {
  const { slots } = stmt;
  const args: InValue[] = new Array(slots.length);
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as Slot;
    const value = "name" in slot ? params[slot.name] : slot.value;
    if (value === undefined) throw new TypeError(`No value for ${"name" in slot ? slot.name : "a parameter"}.`);
    args[i] = value as InValue;
  }
  return { sql: stmt.sql, args };
}

/** The statement with its values and what it means to its transaction. */
export function bindMarked(stmt: CompiledStatement<unknown>, params: Params, marks: Marks) {
  return Object.assign(bind(stmt, params), marks);
}

/** All rows. Errors: those of `Executor.execute`. */
export async function all<Row>(executor: Executor, stmt: CompiledStatement<Row>, params?: Params): Promise<Row[]> {
  return (await executor.execute(bind(stmt, params))).rows as Row[];
}

/** The first row, undefined when there is none. */
export function get<Row>(executor: Executor, stmt: CompiledStatement<Row>, params?: Params): Promise<Row | undefined> {
  const bound = bind(stmt, params);
  const first = executor.first?.(bound) ?? executor.execute(bound).then(({ rows }) => rows[0]);
  return first as Promise<Row | undefined>;
}

/** Runs a write. Returns the number of rows that it changed. */
export async function run(executor: Executor, stmt: CompiledStatement<unknown>, params?: Params): Promise<number> {
  return (await executor.execute(bind(stmt, params))).rowsAffected;
}

function slotOf(param: unknown): Slot {
  const inner = is(param, Param) ? param.value : param;
  return is(inner, Placeholder) ? { name: inner.name } : { value: inner };
}
