import { and, eq, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Ctx, PaymentOptions, Tenant } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, createPurge, param, run, type Statement, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { orders } from "../orders/table.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { findAccount, openProvider } from "./accounts.ts";
import { closeCheckout } from "./close.ts";
import { handleEvent } from "./events.ts";
import { findCheckout } from "./pages.ts";
import { reconcile } from "./reconcile.ts";
import { paymentAccounts, paymentEvents } from "./table.ts";

export type PaymentDeps = Pick<Ctx, "db" | "vault" | "now"> & { payments: PaymentOptions };

/** How long a job has for one row, before another one may take it. */
const leaseMs = 60_000;
/** With an endpoint, the provider itself reports what happens. */
const pollMs = { withEndpoint: 600_000, without: 60_000 };
/** Events may become visible late. */
const overlapMs = 300_000;

interface Row {
  id: string;
  tenant: string;
  at: string;
}
const t = alias(tenants, "t");
const store = { tenant: sql<string>`${tenantForWork}` };
const isActive = (of: { tenantId: SQLiteColumn }) => and(eq(t.id, of.tenantId), eq(t.status, "active"));
const at = sql<string>`coalesce(${checkouts.nextCheckAt}, '')`;
const isEnding = sql`${orders.status} = 'pending' and ${orders.expiresAt} <= ${param("now")}
  and (${at} > ${param("lease")} or ${at} <= ${param("now")})`;
const selectEnding = statement((q) =>
  q
    .select({ ...pick(checkouts, "id", "orderId"), at, ...store })
    .from(orders)
    .innerJoin(checkouts, sql`${checkouts.orderId} = ${orders.id} and ${checkouts.state} = 'open'`)
    .innerJoin(t, isActive(orders))
    .where(isEnding)
    .limit(20),
);
const selectDue = statement((q) =>
  q
    .select({ id: checkouts.id, at, ...store })
    .from(checkouts)
    .innerJoin(t, isActive(checkouts))
    .where(sql`${checkouts.nextCheckAt} <= ${param("now")}`)
    .orderBy(checkouts.nextCheckAt)
    .limit(20),
);
const selectToPoll = statement((q) =>
  q
    .select({
      id: t.id,
      at: paymentAccounts.nextPollAt,
      ...pick(paymentAccounts, "eventsUntil", "endpointId"),
      ...store,
    })
    .from(paymentAccounts)
    .innerJoin(t, isActive(paymentAccounts))
    .where(sql`${paymentAccounts.nextPollAt} <= ${param("now")}`)
    .limit(20),
);
// Of several processes, one gets the row.
const claimCheckout = statement(sql`
  update ${checkouts} set next_check_at = ${param("lease")} where id = ${param("id")}
    and coalesce(next_check_at, '') = ${param("at")}`);
const claimAccount = statement(sql`
  update ${paymentAccounts} set next_poll_at = ${param("lease")}
  where tenant_id = ${param("id")} and next_poll_at = ${param("at")}`);
const savePoll = statement(sql`
  update ${paymentAccounts} set events_until = ${param("until")} where tenant_id = ${param("id")}`);

/** Closes the pages of orders whose time has come, so that these can expire. */
export const closeDueCheckouts = (deps: PaymentDeps): Promise<number> =>
  workOn(deps, selectEnding, claimCheckout, (ctx, { orderId }) => closeCheckout(ctx, orderId));

/** Reads open pages at the provider, whose calls may have been lost. */
export const readDueCheckouts = (deps: PaymentDeps): Promise<number> =>
  workOn(deps, selectDue, claimCheckout, async (ctx, { id }) => {
    const row = await findCheckout(ctx, id);
    if (row) await reconcile(ctx, row);
  });

/** Reads the events of accounts, which the provider may not have been able to deliver. */
export const pollEvents = (deps: PaymentDeps): Promise<number> =>
  workOn(deps, selectToPoll, claimAccount, async (ctx, { id, eventsUntil, endpointId }, setLease) => {
    const account = await findAccount(ctx);
    if (!account) return;
    await setLease(endpointId === null ? pollMs.without : pollMs.withEndpoint);
    const started = ctx.now();
    const events = await openProvider(ctx, account).listEvents(Date.parse(eventsUntil) - overlapMs);
    for (const event of events) await handleEvent(ctx, account, event);
    await run(ctx.db, savePoll, { id, until: toTimestamp(started) });
  });

/** Works on due rows, each claimed for a minute. A row that fails is taken again then. Returns how many succeeded. Throws faults. */
async function workOn<Found extends Row>(
  deps: PaymentDeps,
  select: Statement<Found>,
  claim: Statement<unknown>,
  work: (ctx: Ctx, row: Found, setLease: (ms: number) => Promise<unknown>) => Promise<unknown>,
): Promise<number> {
  const until = (ms: number) => toTimestamp(deps.now() + ms);
  let done = 0;
  let failure: unknown;
  for (const row of await all(deps.db, select, { now: until(0), lease: until(leaseMs) })) {
    const lease = until(leaseMs);
    if ((await run(deps.db, claim, { id: row.id, at: row.at, lease })) === 0) continue;
    const setLease = (ms: number) => run(deps.db, claim, { id: row.id, at: lease, lease: until(ms) });
    const tenant = JSON.parse(row.tenant) as Tenant;
    const ctx: Ctx = { ...deps, tenant, actor: { kind: "server" }, requestId: "payments" };
    try {
      await work(ctx, row, setLease);
      done += 1;
    } catch (error) {
      // The provider may not answer, or refuse the key.
      if (!(error instanceof AppError)) failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return done;
}

export const purgePaymentEvents = createPurge(paymentEvents, sql`created_at <= ${param("before")}`, 30 * 86_400_000);
