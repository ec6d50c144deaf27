import type { SystemCtx } from "../../src/server/context.ts";
import { Run, type RunOptions } from "../../src/server/health/doctor.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";

const command = (words: string) => `bodega ${words}`;

/** Checks the records. Failed checks are reported as inconsistencies. */
export async function findInconsistencies(ctx: SystemCtx, options: Pick<RunOptions, "namespace" | "fix"> = {}) {
  const { namespace } = options;
  const tenant = namespace === undefined ? null : await requireTenant(ctx, namespace);
  const run = new Run({ ...options, deps: { timeoutMs: 1000, command } });
  await run.runRecords({ ctx, tenant, now: ctx.now, command });
  const { ok, checked, findings } = run.report();
  return { ok, checked, inconsistencies: findings };
}
