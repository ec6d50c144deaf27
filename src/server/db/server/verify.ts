import type { Row } from "@libsql/core/api";
import type { BoundValue } from "../bind-args.ts";
import { clausesOf, shapeOf } from "../scan-sql.ts";
import type { Result } from "../session.ts";
import type { Bound } from "./calls.ts";
import type { Outcome } from "./hrana.ts";

/** A statement of a unit with the outcome that its caller has seen. */
export interface Played {
  stmt: Bound;
  outcome: Outcome;
}

const dataVerbs = new Set(["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]);
// SQLite has no function that fails, but the smallest integer has no absolute value.
const otherwiseFail = "THEN 1 ELSE abs(-9223372036854775808) END";

/**
 * The statements that run one again and fail unless its outcome is the one that was seen. A read is only checked; one that
 * failed must fail again.
 */
export function verifying({ stmt, outcome }: Played): Bound[] {
  if (outcome === undefined || outcome instanceof Error) return [stmt];
  const shape = shapeOf(stmt.sql);
  if (shape.reads) return shape.verb === "PRAGMA" ? [] : [checkedRead(stmt, outcome.rows)];
  if (!dataVerbs.has(shape.verb)) return [stmt];
  return [outcome.rows.length > 0 ? checkedReturning(stmt, outcome.rows) : stmt, checkChanges(outcome.rowsAffected)];
}

/** The statement that fails unless the one before it has changed so many rows. */
export function checkChanges(count: number): Bound {
  return { sql: `SELECT CASE WHEN changes() = ? ${otherwiseFail}`, args: [BigInt(count)], isCheck: true };
}

function checkedRead({ sql, args }: Bound, rows: Row[]): Bound {
  const [first] = rows;
  if (first === undefined) return { sql: `SELECT CASE WHEN NOT EXISTS (${sql}) ${otherwiseFail}`, args };
  const columns = Array.from(first, (_, index) => `c${index}`);
  const text = `group_concat(${quoted(columns)}, ';')`;
  const checked = `WITH seen(${columns}) AS (${sql}) SELECT CASE WHEN (SELECT ${text} FROM seen) IS ? ${otherwiseFail}`;
  return { sql: checked, args: [...args, rows.map(textOf).join(";")] };
}

/** A write whose RETURNING gets one more column, which fails for a row that was not seen. */
function checkedReturning({ sql, args }: Bound, rows: Row[]): Bound {
  const { returned, returnedParams } = clausesOf(sql);
  const again = args.slice(args.length - returnedParams);
  const check = `CASE WHEN (${quoted(returned)}) IN (${rows.map(() => "?")}) ${otherwiseFail}`;
  return { sql: `${sql}, ${check}`, args: [...args, ...again, ...rows.map(textOf)] };
}

function quoted(expressions: readonly string[]): string {
  return expressions.map((one) => `quote(${one})`).join(" || ',' || ");
}

/** The text that SQLite's `quote` gives for the values of a row. */
function textOf(row: Row): string {
  return Array.from(row as ArrayLike<unknown>, (value) => {
    if (value === null) return "NULL";
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    if (value instanceof ArrayBuffer) return `X'${Buffer.from(value).toString("hex").toUpperCase()}'`;
    return String(value as BoundValue);
  }).join(",");
}

/** Whether a statement ran and did not fail. */
export function isResult(outcome: Outcome): outcome is Result {
  return outcome !== undefined && !(outcome instanceof Error);
}
