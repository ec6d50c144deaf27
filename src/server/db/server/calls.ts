import type { InStatement } from "@libsql/core/api";
import { argsOf, type BoundValue, bindArgs, sqlOf } from "../bind-args.ts";
import { isBusy, mapServerError } from "../db-errors.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Marks } from "../session.ts";

/** A statement with its arguments as both engines store them. */
export interface Bound extends Marks {
  sql: string;
  args: BoundValue[];
  /** Whether it only fails unless the one before it has changed as many rows as it must. */
  isCheck?: boolean;
}

/** Binds a statement's arguments. Errors: those of `bindArgs`. */
export function bindForServer(stmt: InStatement): Bound {
  const sql = sqlOf(stmt);
  const { mustChange, isGuarded, chain } = (typeof stmt === "string" ? {} : stmt) as Marks;
  const args = chain ? [] : bindArgs(shapeOf(sql).params, argsOf(stmt));
  return { sql, args, mustChange, isGuarded, chain };
}

/** Repeats work that found the database locked and did nothing, with small pauses, until the deadline. Errors: mapped. */
export async function retryWhileBusy<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw mapServerError(error);
    }
    await Bun.sleep(1 + Math.random() * 9);
  }
}
