import type { Tenant, WorkCtx } from "../../context.ts";
import { AppError } from "../../errors.ts";

/**
 * Runs `work` for each row, and returns how often it returned true. A failing row does not stop the others.
 * @throws unavailable at once; the first error of a row if no row succeeded.
 */
export async function workThrough<Row extends { tenant: string }>(
  ctx: WorkCtx,
  rows: readonly Row[],
  work: (ctx: WorkCtx & { tenant: Tenant }, row: Row) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  let failure: unknown;
  for (const row of rows) {
    try {
      if (await work({ ...ctx, tenant: JSON.parse(row.tenant) as Tenant }, row)) done += 1;
    } catch (error) {
      if (error instanceof AppError && error.kind === "unavailable") throw error;
      failure ??= error;
    }
  }
  if (done === 0 && failure !== undefined) throw failure;
  return done;
}
