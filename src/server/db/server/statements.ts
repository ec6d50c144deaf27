import type { InStatement } from "@libsql/core/api";
import { argsOf, type BoundValue, bindArgs, sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";

export interface Bound {
  sql: string;
  args: BoundValue[];
}

export const control = (sql: string): Bound => ({ sql, args: [] });
export const begin = control("BEGIN IMMEDIATE");
export const commit = control("COMMIT");
export const release = control("RELEASE bodega_unit");
// SQLite has no function that fails. But the smallest integer has no absolute value, so `abs` fails.
const failing = "abs(-9223372036854775808)";
export const keepGroup = `INSERT INTO write_groups (writer, last_group) VALUES (?, ?)
  ON CONFLICT (writer) DO UPDATE SET last_group = excluded.last_group`;
export const checkGroup = `SELECT CASE WHEN EXISTS (SELECT 1 FROM write_groups WHERE writer = ? AND last_group = ?)
  THEN 1 ELSE ${failing} END`;
/** Deletes the rows of processes that ended long ago. */
export const dropOldWriters = "DELETE FROM write_groups WHERE rowid < (SELECT max(rowid) FROM write_groups) - 1000";

/** COMMIT, unless one of the reads finds a row. */
export function commitUnless(reads: readonly Bound[]): Bound[] {
  const exists = reads.map(({ sql }) => `EXISTS (${sql})`).join(" OR ") || "false";
  const sql = `SELECT CASE WHEN ${exists} THEN ${failing} END`;
  return [...reads, { sql, args: reads.flatMap(({ args }) => args) }, commit];
}

/** Binds a statement's arguments as both engines store them. Errors: as `bindArgs`. */
export function bindForServer(stmt: InStatement): Bound {
  const sql = sqlOf(stmt);
  return { sql, args: bindArgs(shapeOf(sql).params, argsOf(stmt)) };
}
