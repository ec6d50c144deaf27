import type { InArgs, InStatement } from "@libsql/core/api";
import { argsOf, type BoundValue, bindArgs, sqlOf } from "../bind-args.ts";
import { isBusy, mapServerError } from "../db-errors.ts";
import { shapeOf } from "../scan-sql.ts";

interface BoundStatement {
  sql: string;
  args: BoundValue[] | Record<string, BoundValue>;
}

/** A statement with its arguments as both engines store them. Errors: those of `bindArgs`. */
export function bindForServer(stmt: InStatement | [string, InArgs?]): BoundStatement {
  const sql = sqlOf(stmt);
  const { params, several } = shapeOf(sql);
  if (several) throw new TypeError("Only one statement can run at a time.");
  const args = bindArgs(params, argsOf(stmt));
  // The server wants names for parameters that have one, where SQLite itself takes either.
  if (!params.some((name) => name !== null)) return { sql, args };
  return { sql, args: Object.fromEntries(params.map((name, index) => [name, args[index] as BoundValue])) };
}

/** Bound statements for a batch that must not change anything. Errors: TypeError for one that could. */
export function bindReads(stmts: (InStatement | [string, InArgs?])[]): BoundStatement[] {
  return stmts.map((stmt) => {
    if (!shapeOf(sqlOf(stmt)).reads) throw new TypeError("A read batch takes only statements that read.");
    return bindForServer(stmt);
  });
}

/** Repeats work that found the database locked, so did nothing, with small pauses until the deadline. Errors: mapped. */
export async function retryWhileBusy<T>(work: () => Promise<T>, deadlineMs: number): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw mapServerError(error);
    }
    await Bun.sleep(1 + Math.random() * 9);
  }
}
