import { sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { all, bind, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { recordAudit } from "../../modules/audit/service.ts";
import { requireTenant } from "../../modules/tenants/service.ts";
import { tenantForWork, tenants } from "../../modules/tenants/table.ts";
import { dayOf } from "../../modules/views/dedup-key.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { describeDamage } from "../database/file.ts";
import { type ReportedFinding, reasonOf } from "../finding.ts";
import type { CheckParams, Inconsistency, RecordCheck } from "./check.ts";
import { pictureUses, productCounts, reactionCounts, viewCounts } from "./counts.ts";
import { dueOrders, numbers, orderPoints, orderStates, orderTotals, refunds } from "./orders.ts";
import { reservedStock, searchIndex, storedReplies, variantSums } from "./products.ts";
import { rewards } from "./rewards.ts";

/** In the order in which they run: values that others are computed from come first. */
export const recordChecks: readonly RecordCheck[] = [
  ...[orderStates, reservedStock, variantSums, storedReplies, orderTotals, refunds, numbers, rewards],
  ...[orderPoints, reactionCounts, viewCounts, productCounts, pictureUses, searchIndex, dueOrders],
];

/** This many rows are fixed in one transaction, so that other writers wait only briefly. */
const batchSize = 100;
const dayMs = 86_400_000;

const selectTenants = statement<{ tenant: string }>(sql`select ${tenantForWork} as tenant from ${tenants} t`);

/** The stores of a run. */
interface Scope {
  one: Tenant | null;
  byId: ReadonlyMap<string, Tenant>;
  fix: boolean;
}

/**
 * Recomputes stored values: stock, totals, balances, counts, the search index. A server may be running. `fix` fixes
 * what can be fixed, and records it in the audit log. Errors: notFound for an unknown `namespace`.
 */
export async function checkRecords(
  ctx: SystemCtx,
  { namespace, fix = false, skip = [] }: { namespace?: string | undefined; fix?: boolean; skip?: string[] } = {},
): Promise<{ checked: string[]; findings: ReportedFinding[] }> {
  const one = namespace === undefined ? null : await requireTenant(ctx, namespace);
  const stores = one ? [one] : (await all(ctx.db, selectTenants)).map(({ tenant }) => JSON.parse(tenant) as Tenant);
  const scope: Scope = { one, byId: new Map(stores.map((tenant) => [tenant.id, tenant])), fix };
  const findings: ReportedFinding[] = [];
  const wanted = recordChecks.filter(({ id }) => !skip.includes(id));
  for (const check of wanted) findings.push(...(await runCheck(ctx, check, scope)));
  return { checked: wanted.map(({ id }) => id), findings };
}

async function runCheck(ctx: SystemCtx, check: RecordCheck, scope: Scope): Promise<ReportedFinding[]> {
  const { id, remedy = null, notes } = check;
  const common = { group: "records", check: id, remedy: null, fixable: false, fixed: false } as const;
  const nameOf = (tenantId: string | null) => (tenantId && scope.byId.get(tenantId)?.namespace) || null;
  try {
    const inconsistencies = await findAndFix(ctx, check, scope);
    const noted = notes ? await all(ctx.db, notes.count, paramsOf(ctx, scope.one)) : [];
    return [
      ...inconsistencies.map(({ row, fixed }): ReportedFinding => {
        const { record, field, found, expected } = row;
        const namespace = nameOf(row.tenant_id);
        const fixable = Boolean(row.fixable);
        const message = `${field} of ${record}${namespace === null ? "" : ` in store ${namespace}`} is ${found ?? "null"} and should be ${expected ?? "null"}.`;
        const values = { field, is: found, should: expected, fixable, fixed, remedy: fixable ? null : remedy };
        return { ...common, severity: "error", subject: record, namespace, message, ...values };
      }),
      ...noted.map(({ tenant_id, count }): ReportedFinding => {
        const namespace = nameOf(tenant_id);
        const message = `Store ${namespace}: ${notes?.describe(count)}`;
        return { ...common, severity: "note", subject: namespace ?? id, namespace, message };
      }),
    ];
  } catch (error) {
    // Unreadable rows of one check must not hide the findings of the others.
    const message = `This check failed: ${describeDamage(error) ?? reasonOf(error)}.`;
    return [{ ...common, severity: "error", subject: id, namespace: scope.one?.namespace ?? null, message }];
  }
}

async function findAndFix(ctx: SystemCtx, check: RecordCheck, scope: Scope) {
  const { select } = check;
  if (select === undefined) return [];
  const found = new Map<string, Inconsistency>();
  const find = () => all(ctx.db, select, paramsOf(ctx, scope.one));
  let left = await find();
  for (;;) {
    const fresh = left.filter((row) => !found.has(keyOf(row)));
    for (const row of fresh) found.set(keyOf(row), row);
    const fixable = fresh.filter((row) => row.fixable);
    if (!scope.fix || fixable.length === 0) break;
    await applyFixes(ctx, check, fixable, scope);
    // A row is fixed when it is no longer found. Some checks find only some rows at a time.
    left = await find();
  }
  const remaining = new Set(left.map(keyOf));
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, row]) => ({ row, fixed: !remaining.has(key) }));
}

async function applyFixes(ctx: SystemCtx, check: RecordCheck, rows: Inconsistency[], { byId }: Scope) {
  for (const [tenantId, ofStore] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const tenant = tenantId === null ? null : byId.get(tenantId);
    // A store that was created or deleted meanwhile.
    if (tenant === undefined) continue;
    const targets = [...new Set(ofStore.map(({ target, record }) => target ?? record))];
    for (let at = 0; at < targets.length; at += batchSize) {
      await inTransaction(ctx, (tx) => fixBatch(tx, check, targets.slice(at, at + batchSize), tenant));
    }
  }
}

async function fixBatch(tx: SystemCtx, { id, updates, fix }: RecordCheck, ids: string[], tenant: Tenant | null) {
  const params = paramsOf(tx, tenant, ids);
  const results = updates ? await tx.db.batch(updates.map((update) => bind(update, params))) : [];
  let fixed = results.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  if (tenant !== null) fixed += (await fix?.({ ...tx, tenant }, params, ids)) ?? 0;
  const acting = tenant === null ? tx : { ...tx, tenant };
  if (fixed > 0) await recordAudit(acting, { event: "doctor.fixed", details: { check: id, fixed } });
}

function paramsOf(ctx: SystemCtx, tenant: Tenant | null, ids?: readonly string[]): CheckParams {
  // Yesterday, today, and tomorrow for clocks that are ahead.
  const days = JSON.stringify([-1, 0, 1].map((day) => dayOf(ctx.now() + day * dayMs)));
  return { tenantId: tenant?.id ?? null, ids: JSON.stringify(ids ?? []), now: toTimestamp(ctx.now()), days };
}

function keyOf({ tenant_id, record, field }: Inconsistency): string {
  return JSON.stringify([tenant_id, record, field]);
}
