import { sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { recordAudit } from "../../modules/audit/service.ts";
import { orders } from "../../modules/orders/table.ts";
import { requireTenant } from "../../modules/tenants/service.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { tenantForWork } from "../../modules/tenants/work.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { describeDamage } from "../database/damage.ts";
import { countOf, type Finding, type ReportedFinding, reasonOf } from "../finding.ts";
import { type Inconsistency, inScope, type RecordCheck } from "./check.ts";
import { numbers } from "./order-numbers.ts";
import { orderPoints } from "./order-points.ts";
import { refunds } from "./order-refunds.ts";
import { orderStates } from "./order-states.ts";
import { orderTotals } from "./order-totals.ts";
import { productCounts } from "./product-counts.ts";
import { reactionCounts } from "./reaction-counts.ts";
import { reservedStock } from "./reserved-stock.ts";
import { rewards } from "./reward-balances.ts";
import { searchIndex } from "./search-index.ts";
import { variantSums } from "./variant-sums.ts";
import { viewCounts } from "./view-counts.ts";

const countDue = statement<{ tenant_id: string; due: number }>(sql`
  select o.tenant_id, count(*) as due from ${orders} o
  where o.status = 'pending' and o.expires_at <= ${param("now")} and ${inScope("o")} group by o.tenant_id`);

const dueOrders: RecordCheck = {
  id: "orders",
  find: async () => [],
  async notes(ctx, tenantId) {
    const rows = await all(ctx.db, countDue, { tenantId, now: toTimestamp(ctx.now()) });
    return rows.map(({ tenant_id, due }) => ({
      tenant_id,
      text: `${countOf(due, "unpaid order")} should have expired. A running server expires them within a minute.`,
    }));
  },
};

/** In the order in which they run: values that others are computed from come first. */
const checks: readonly RecordCheck[] = [
  ...[orderStates, reservedStock, variantSums, orderTotals, refunds, numbers, rewards],
  ...[orderPoints, reactionCounts, viewCounts, productCounts, searchIndex, dueOrders],
];

/** This many rows are fixed in one transaction, so that other writers wait only shortly. */
const batchSize = 100;

const selectTenants = statement<{ tenant: string }>(sql`select ${tenantForWork} as tenant from ${tenants} t`);

interface RecordOptions {
  /** Checks only this store. */
  namespace?: string | undefined;
  /** Fixes what can be fixed, and records it in the audit log. */
  fix?: boolean;
}

/** The stores of a run. */
interface Scope {
  one: Tenant | null;
  byId: ReadonlyMap<string, Tenant>;
  fix: boolean;
}

/**
 * Recomputes stored values: stock, totals, balances, counts, the search index. A server may be running.
 * @returns `ok` unless an error remains.
 * @throws notFound when the store does not exist.
 */
export async function checkRecords(
  ctx: SystemCtx,
  { namespace, fix = false }: RecordOptions = {},
): Promise<{ ok: boolean; checked: string[]; findings: ReportedFinding[] }> {
  const one = namespace === undefined ? null : await requireTenant(ctx, namespace);
  const stores = one ? [one] : await readTenants(ctx);
  const scope: Scope = { one, byId: new Map(stores.map((tenant) => [tenant.id, tenant])), fix };
  const findings: ReportedFinding[] = [];
  for (const check of checks) findings.push(...(await runCheck(ctx, check, scope)));
  const ok = findings.every(({ severity, fixed }) => severity !== "error" || fixed);
  return { ok, checked: checks.map(({ id }) => id), findings };
}

async function readTenants(ctx: SystemCtx): Promise<Tenant[]> {
  return (await all(ctx.db, selectTenants)).map(({ tenant }) => JSON.parse(tenant) as Tenant);
}

async function runCheck(ctx: SystemCtx, check: RecordCheck, scope: Scope): Promise<ReportedFinding[]> {
  const report = (finding: Finding, fixable = false, fixed = false): ReportedFinding => {
    const { namespace = null, ...rest } = finding;
    return { group: "records", check: check.id, ...rest, namespace, fixable, fixed };
  };
  const nameOf = (tenantId: string | null) => (tenantId === null ? undefined : scope.byId.get(tenantId)?.namespace);
  try {
    const inconsistencies = await findAndFix(ctx, check, scope);
    const notes = (await check.notes?.(ctx, scope.one?.id ?? null)) ?? [];
    return [
      ...inconsistencies.map(({ row, fixed }) =>
        report(describeInconsistency(row, nameOf(row.tenant_id), check.remedy), Boolean(row.fixable), fixed),
      ),
      ...notes.map(({ tenant_id, text }) => {
        const namespace = nameOf(tenant_id);
        const message = namespace === undefined ? text : `Store ${namespace}: ${text}`;
        return report({ severity: "note", subject: namespace ?? check.id, namespace, message, remedy: null });
      }),
    ];
  } catch (error) {
    // Unreadable rows of one check must not hide the findings of the others.
    const message = `This check failed: ${describeDamage(error) ?? reasonOf(error)}.`;
    const namespace = scope.one?.namespace;
    return [report({ severity: "error", subject: check.id, namespace, message, remedy: null })];
  }
}

function describeInconsistency(row: Inconsistency, namespace: string | undefined, remedy: string | undefined): Finding {
  const { record, field, found, expected, fixable } = row;
  const store = namespace === undefined ? "" : ` in store ${namespace}`;
  return {
    severity: "error",
    subject: record,
    namespace,
    message: `${field} of ${record}${store} is ${found ?? "null"} and should be ${expected ?? "null"}.`,
    remedy: fixable ? null : (remedy ?? null),
    field,
    is: found,
    should: expected,
  };
}

async function findAndFix(ctx: SystemCtx, check: RecordCheck, scope: Scope) {
  const found = new Map<string, Inconsistency>();
  const tenantId = scope.one?.id ?? null;
  let left = await check.find(ctx, tenantId);
  for (;;) {
    const fresh = left.filter((row) => !found.has(keyOf(row)));
    for (const row of fresh) found.set(keyOf(row), row);
    const fixable = fresh.filter((row) => row.fixable);
    if (!scope.fix || fixable.length === 0) break;
    await applyFixes(ctx, check, fixable, scope);
    // Fixed is what is no longer found. Some checks find only some rows at a time.
    left = await check.find(ctx, tenantId);
  }
  const remaining = new Set(left.map(keyOf));
  return [...found.values()]
    .map((row) => ({ row, fixed: !remaining.has(keyOf(row)) }))
    .sort(({ row: a }, { row: b }) => compare(a.tenant_id ?? "", b.tenant_id ?? "") || compare(a.record, b.record));
}

async function applyFixes(ctx: SystemCtx, { id, fix }: RecordCheck, rows: Inconsistency[], { byId }: Scope) {
  if (!fix) return;
  for (const [tenantId, ofStore] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const tenant = tenantId === null ? null : (byId.get(tenantId) ?? null);
    // A store that was created or deleted meanwhile.
    if (tenantId !== null && tenant === null) continue;
    const targets = [...new Set(ofStore.map(({ target, record }) => target ?? record))];
    for (let at = 0; at < targets.length; at += batchSize) {
      await inTransaction(ctx, async (tx) => {
        const fixed = await fix(tx, targets.slice(at, at + batchSize), tenant);
        const acting = tenant === null ? tx : { ...tx, tenant };
        if (fixed > 0) await recordAudit(acting, { event: "doctor.fixed", details: { check: id, fixed } });
      });
    }
  }
}

function keyOf({ tenant_id, record, field }: Inconsistency): string {
  return JSON.stringify([tenant_id, record, field]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
