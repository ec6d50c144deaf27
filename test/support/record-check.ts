import type { SystemCtx } from "../../src/server/context.ts";
import { checkRecords } from "../../src/server/health/records/check-records.ts";

/** Checks the records; inconsistencies (and checks that failed) are apart from notes. */
export async function findInconsistencies(ctx: SystemCtx, options: Parameters<typeof checkRecords>[1] = {}) {
  const { checked, findings } = await checkRecords(ctx, options);
  const isNote = ({ severity }: { severity: string }) => severity === "note";
  const ok = findings.every(({ severity, fixed }) => severity !== "error" || fixed);
  return { ok, checked, inconsistencies: findings.filter((one) => !isNote(one)), notes: findings.filter(isNote) };
}
