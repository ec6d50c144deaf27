import type { Session } from "./session.ts";

/**
 * Runs `fn` with a context whose `db` is one write transaction: all of its writes stand, or none. Within a transaction
 * it joins the outer one. It is the only way for a service to write more than one row.
 */
export function inTransaction<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  return ctx.db.transaction((tx) => fn({ ...ctx, db: tx }));
}
