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
import { type Check, type Finding, inScope } from "./check.ts";
import { checks } from "./checks.ts";

/** How many rows are mended in one transaction: other writers wait for no more. */
const portion = 100;

/** One value that has drifted. */
export interface Drift {
  check: string;
  /** Null for what belongs to no store. */
  namespace: string | null;
  record: string;
  field: string;
  is: string | number | null;
  should: string | number | null;
  /** Whether `fix` mends it. */
  fixable: boolean;
  /** Whether it has been mended by this call. */
  fixed: boolean;
}

/** Something to know that is no drift. */
export interface Note {
  check: string;
  namespace: string | null;
  text: string;
}

/** What a look at the database has shown. */
export interface DoctorReport {
  /** Whether no drift is left. */
  ok: boolean;
  /** Names of the checks that ran. */
  checked: string[];
  drift: Drift[];
  notes: Note[];
}

const selectTenants = statement<{ tenant: string }>(sql`select ${tenantForWork} as tenant from ${tenants} t`);
const countDue = statement<{ tenant_id: string; due: number }>(sql`
  select o.tenant_id, count(*) as due from ${orders} o
  where o.status = 'pending' and o.expires_at <= ${param("now")} and ${inScope("o")} group by o.tenant_id`);

/**
 * Computes again what is kept beside what it follows from: stock, sums, totals, balances, the search index. A server may
 * be at work meanwhile.
 * @param options `namespace` looks at one store only; `fix` mends what can be, and writes that down; `onCheck` is told
 * of each check before it runs.
 * @throws notFound when there is no such store.
 */
export async function runDoctor(
  ctx: SystemCtx,
  options: { namespace?: string | undefined; fix?: boolean; onCheck?: (name: string) => Promise<void> } = {},
): Promise<DoctorReport> {
  const { namespace, fix = false, onCheck } = options;
  const one = namespace === undefined ? null : await requireTenant(ctx, namespace);
  const stores = one ? [one] : await readTenants(ctx);
  const known = new Map(stores.map((tenant) => [tenant.id, tenant]));
  const report: DoctorReport = { ok: true, checked: [], drift: [], notes: [] };
  for (const check of checks) {
    if (one !== null && check.isGlobal) continue;
    await onCheck?.(check.name);
    report.checked.push(check.name);
    try {
      await addCheck(ctx, report, check, one, known, fix);
    } catch (error) {
      // What the database refuses to read must not hide what the other checks find.
      report.drift.push(brokenCheck(check, one, error));
    }
  }
  try {
    for (const { tenant_id, due } of await all(ctx.db, countDue, values(ctx, one))) {
      const text = `Unpaid orders past their time: ${due}. A running server expires them within a minute.`;
      report.notes.push({ check: "orders", namespace: known.get(tenant_id)?.namespace ?? null, text });
    }
  } catch (error) {
    report.drift.push(brokenCheck({ name: "orders" }, one, error));
  }
  report.ok = report.drift.every(({ fixed }) => fixed);
  return report;
}

async function addCheck(
  ctx: SystemCtx,
  report: DoctorReport,
  check: Check,
  one: Tenant | null,
  known: ReadonlyMap<string, Tenant>,
  fix: boolean,
): Promise<void> {
  const drift = await runCheck(ctx, check, one?.id ?? null, known, fix);
  report.drift.push(...drift);
  const isStuck = drift.some(({ fixable, fixed }) => (fix ? !fixed : !fixable));
  if (isStuck && check.remedy !== undefined) {
    report.notes.push({ check: check.name, namespace: null, text: check.remedy });
  }
  for (const { tenant_id, text } of (await check.notes?.(ctx, one?.id ?? null)) ?? []) {
    report.notes.push({ check: check.name, namespace: known.get(tenant_id)?.namespace ?? null, text });
  }
}

function brokenCheck({ name }: Pick<Check, "name">, one: Tenant | null, error: unknown): Drift {
  const is = error instanceof Error ? error.message : String(error);
  const namespace = one?.namespace ?? null;
  return { check: name, namespace, record: name, field: "check", is, should: "readable", fixable: false, fixed: false };
}

function values(ctx: SystemCtx, tenant: Tenant | null) {
  return { tenantId: tenant?.id ?? null, now: toTimestamp(ctx.now()) };
}

async function readTenants(ctx: SystemCtx): Promise<Tenant[]> {
  return (await all(ctx.db, selectTenants)).map(({ tenant }) => JSON.parse(tenant) as Tenant);
}

async function runCheck(
  ctx: SystemCtx,
  check: Check,
  tenantId: string | null,
  known: ReadonlyMap<string, Tenant>,
  fix: boolean,
): Promise<Drift[]> {
  const found = new Map<string, Finding>();
  let left = await check.find(ctx, tenantId);
  for (;;) {
    const fresh = left.filter((one) => !found.has(keyOf(one)));
    for (const one of fresh) found.set(keyOf(one), one);
    const wrong = fresh.filter(({ fixable }) => fixable);
    if (!fix || wrong.length === 0) break;
    await mendAll(ctx, check, wrong, known);
    // What has been mended is what does not show any more; some checks show a part at a time.
    left = await check.find(ctx, tenantId);
  }
  const stays = new Set(left.map(keyOf));
  return [...found.values()]
    .map((one) => ({
      check: check.name,
      namespace: one.tenant_id === null ? null : (known.get(one.tenant_id)?.namespace ?? null),
      record: one.record,
      field: one.field,
      is: one.found,
      should: one.expected,
      fixable: Boolean(one.fixable),
      fixed: !stays.has(keyOf(one)),
    }))
    .sort((a, b) => compare(a.namespace ?? "", b.namespace ?? "") || compare(a.record, b.record));
}

async function mendAll(ctx: SystemCtx, check: Check, wrong: Finding[], known: ReadonlyMap<string, Tenant>) {
  const { mend } = check;
  if (!mend) return;
  for (const [tenantId, findings] of Map.groupBy(wrong, (one) => one.tenant_id)) {
    const tenant = tenantId === null ? null : (known.get(tenantId) ?? null);
    // A store that was made or removed a moment ago.
    if (tenantId !== null && tenant === null) continue;
    const targets = [...new Set(findings.map(({ target, record }) => target ?? record))];
    for (let at = 0; at < targets.length; at += portion) {
      await inTransaction(ctx, async (tx) => {
        const mended = await mend(tx, targets.slice(at, at + portion), tenant);
        const acting = tenant === null ? tx : { ...tx, tenant };
        if (mended > 0) await recordAudit(acting, { event: "doctor.fixed", details: { check: check.name, mended } });
      });
    }
  }
}

function keyOf({ tenant_id, record, field }: Finding): string {
  return JSON.stringify([tenant_id, record, field]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
