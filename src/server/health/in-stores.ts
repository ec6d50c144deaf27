import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { all, type CompiledStatement, param } from "../db/statement.ts";
import { toTimestamp } from "../values/timestamp.ts";
import type { Finding, RecordSubject } from "./finding.ts";

const recentMs = 7 * 86_400_000;
const overdueMs = 3_600_000;
const lateMailMs = 15 * 60_000;

/** Whether a row, by its alias or the column of its store, is to be checked. The parameter `tenantId` is null for all stores. */
export function inScope(of: string | SQLiteColumn): SQL {
  const column = typeof of === "string" ? sql.raw(`${of}.tenant_id`) : of;
  return sql`(${param("tenantId")} is null or ${column} = ${param("tenantId")})`;
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
