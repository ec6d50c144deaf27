import type { Ctx } from "../../src/server/context.ts";
import { sqlOf } from "../../src/server/db/bind-args.ts";
import { shapeOf } from "../../src/server/db/scan-sql.ts";

/** Returns a context in which `happen` runs just before the first write, like a write of another process. */
export function interrupted(ctx: Ctx, happen: () => Promise<unknown>): Ctx {
  const { db } = ctx;
  let happening: Promise<unknown> | undefined;
  const before = () => {
    happening ??= happen();
    return happening;
  };
  return {
    ...ctx,
    db: {
      async execute(stmt) {
        if (!shapeOf(sqlOf(stmt)).reads) await before();
        return db.execute(stmt);
      },
      batch: (stmts, mode) => db.batch(stmts, mode),
      async transaction(fn) {
        await before();
        return db.transaction(fn);
      },
    },
  };
}
