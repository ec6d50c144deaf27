import { and, eq, getTableColumns, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Ctx, PaymentOptions } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, createPurge, param, run, type Statement, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { orders } from "../orders/table.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { openProvider, requireAccount } from "./accounts.ts";
import { handleEvent } from "./events.ts";
import { closePage, reconcile } from "./reconcile.ts";
import { paymentAccounts, paymentEvents } from "./table.ts";

export type PaymentDeps = Pick<Ctx, "db" | "vault" | "now"> & { payments: PaymentOptions };

/** Providers may list events late, so each poll also reads the five minutes before the last poll. */
const overlapMs = 300_000;

const t = alias(tenants, "t");
const isActive = (of: { tenantId: SQLiteColumn }) => and(eq(t.id, of.tenantId), eq(t.status, "active"));
const tenant = sql<string>`${tenantForWork}`;
const isEnding = sql<number>`(${orders.status} <> 'pending' or ${orders.expiresAt} <= ${param("now")})`;
// At most twenty of each store, so that one store with many pages does not delay the others.
const firstOfEachStore = sql`
  select id from (
    select id, row_number() over (partition by tenant_id order by next_check_at) as place
    from ${checkouts} where next_check_at <= ${param("now")})
  where place <= 20`;
const selectPages = statement((q) =>
  q
    .select({ ...getTableColumns(checkouts), isEnding, tenant })
    .from(checkouts)
    .innerJoin(orders, eq(orders.id, checkouts.orderId))
    .innerJoin(t, isActive(checkouts))
    .where(sql`${checkouts.id} in (${firstOfEachStore})`)
    .orderBy(checkouts.nextCheckAt)
    .limit(100),
);
// The process that has claimed a page has a minute to read it, before another process may claim the page.
const claimPage = statement(sql`
  update ${checkouts} set next_check_at = ${param("inMinute")}
  where id = ${param("id")} and next_check_at <= ${param("now")}`);
const selectAccounts = statement((q) =>
  q
    .select({ ...pick(paymentAccounts, "eventsUntil"), id: t.id, tenant })
    .from(paymentAccounts)
    .innerJoin(t, isActive(paymentAccounts))
    .where(sql`${paymentAccounts.nextPollAt} <= ${param("now")}`)
    .limit(20),
);
// A provider with a webhook endpoint reports events by itself, so it is polled less often.
const claimAccount = statement(sql`
  update ${paymentAccounts} set next_poll_at = iif(endpoint_id is null, ${param("inMinute")}, ${param("inTenMinutes")})
  where tenant_id = ${param("id")} and next_poll_at <= ${param("now")}`);
const savePoll = statement(sql`
  update ${paymentAccounts} set events_until = ${param("until")} where tenant_id = ${param("id")}`);

/** Reads open payment pages at the provider, because webhook calls can be lost. Closes the pages of expired orders. */
export const readDueCheckouts = (deps: PaymentDeps): Promise<void> =>
  workOn(deps, selectPages, claimPage, (ctx, row) => (row.isEnding ? closePage(ctx, row) : reconcile(ctx, row)));

/** Polls the events of accounts, because webhook calls can be lost. */
export const pollEvents = (deps: PaymentDeps): Promise<void> =>
  workOn(deps, selectAccounts, claimAccount, async (ctx, { id, eventsUntil }) => {
    const [account, provider] = await Promise.all([requireAccount(ctx), openProvider(ctx)]);
    const until = toTimestamp(ctx.now());
    const events = await provider.listEvents(Date.parse(eventsUntil) - overlapMs);
    for (const event of events) await handleEvent(ctx, account, event);
    await run(ctx.db, savePoll, { id, until });
  });

/**
 * Claims and works on due rows: stores at the same time, the rows of a store in turn. If the provider of a store does
 * not answer, the store's other rows wait for the next call.
 */
async function workOn<Row extends { id: string; tenant: string }>(
  deps: PaymentDeps,
  select: Statement<Row>,
  claim: Statement<unknown>,
  work: (ctx: Ctx, row: Row) => Promise<unknown>,
): Promise<void> {
  const [now, inMinute, inTenMinutes] = [0, 1, 10].map((minutes) => toTimestamp(deps.now() + minutes * 60_000));
  const claimAndWork = async (ctx: PaymentDeps & Pick<Ctx, "tenant">, row: Row) => {
    if ((await run(deps.db, claim, { id: row.id, now, inMinute, inTenMinutes })) === 0) return false;
    await work({ ...ctx, actor: { kind: "server" }, requestId: "payments" }, row);
    return true;
  };
  const workOnStore = (rows: Row[]) =>
    workThrough(deps, rows, claimAndWork).catch((error: unknown) => {
      // The provider did not answer, or refused a request. The job tries again after the claims have ended.
      if (!(error instanceof AppError)) throw error;
    });
  const stores = Map.groupBy(await all(deps.db, select, { now }), (row) => row.tenant).values();
  const outcomes = await Promise.allSettled(Array.from(stores, workOnStore));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

export const purgePaymentEvents = createPurge(paymentEvents, sql`created_at <= ${param("before")}`, 30 * 86_400_000);
