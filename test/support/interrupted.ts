import type { Ctx } from "../../src/server/context.ts";

/** A context in which something else happens just before its first transaction, as another process may do it. */
export function interrupted(ctx: Ctx, happen: () => Promise<unknown>): Ctx {
  const { db } = ctx;
  let hasHappened = false;
  return {
    ...ctx,
    db: {
      execute: (stmt) => db.execute(stmt),
      batch: (stmts, mode) => db.batch(stmts, mode),
      async transaction(fn) {
        if (!hasHappened) {
          hasHappened = true;
          await happen();
        }
        return db.transaction(fn);
      },
    },
  };
}
