import { type SQL, sql } from "drizzle-orm";
import { all, type CompiledStatement, param } from "../db/statement.ts";
import { toTimestamp } from "../values/timestamp.ts";
import type { Finding, RecordSubject } from "./finding.ts";

const recentMs = 7 * 86_400_000;
const overdueMs = 3_600_000;
const lateMailMs = 15 * 60_000;

/** SQL for the rows of an alias to check. Its parameter is `tenantId`, null for all stores. */
export function inScope(alias: string): SQL {
  return sql`(${param("tenantId")} is null or ${sql.raw(alias)}.tenant_id = ${param("tenantId")})`;
}

/** The rows of a statement as findings about their stores. Its parameters are `tenantId` and times. */
export async function findInStores<Row extends { namespace: string }>(
  { ctx, tenant, now }: RecordSubject,
  rows: CompiledStatement<Row>,
  describe: (row: Row) => Finding,
): Promise<Finding[]> {
  const [recent, overdue, late, present] = [recentMs, overdueMs, lateMailMs, 0].map((ms) => toTimestamp(now() - ms));
  const found = await all(ctx.db, rows, { tenantId: tenant?.id ?? null, recent, overdue, late, now: present });
  return found.map((row) => ({ ...describe(row), namespace: row.namespace }));
}
