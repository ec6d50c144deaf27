import { eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Ctx, Tenant } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type Answer, type Channel, type ChannelDeps, retryDelayMs } from "../../delivery/channel.ts";
import { type Claim, createQueue, isDue } from "../../delivery/claim.ts";
import { DeliveryEngine } from "../../delivery/engine.ts";
import type { SchedulerPolicy } from "../../delivery/scheduler.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { orderRefunds, payments } from "../orders/table.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { openProvider } from "./accounts.ts";
import type { PaymentDeps } from "./jobs.ts";
import { isOld, isRefusal } from "./provider.ts";
import { advance, findRefund } from "./refunds.ts";
import { refundDeliveries } from "./table.ts";

const delaysMs = [5, 30, 120, 600, 1800, 3600, 7200, 21_600].map((seconds) => seconds * 1000);
/** Longer than all requests of an attempt can take, with their retries. */
const attemptMs = 55_000;
const permits = { total: 16, tenant: 4, receiver: 4 };
const policy: SchedulerPolicy = { permits, untrusted: permits, batch: 4, opensAfter: 3, maxRetryAfterMs: 60_000 };

const create = statement(sql`
  insert into ${refundDeliveries} (id, tenant_id, status, next_attempt_at, created_at)
  select r.id, r.tenant_id, 'waiting', ${param("now")}, ${param("now")} from ${orderRefunds} r
  where r.state = 'requested' and not exists (select 1 from ${refundDeliveries} d where d.id = r.id) limit 200`);
const selectReady = statement((q) =>
  q.selectDistinct({ id: refundDeliveries.tenantId }).from(refundDeliveries).where(isDue),
);
const which = sql`
  select id from ${refundDeliveries} where tenant_id = ${param("key")} and ${isDue}
    order by next_attempt_at, id limit ${param("max")}`;
const t = alias(tenants, "t");
const read = statement((q) =>
  q
    .select({
      ...pick(refundDeliveries, "id", "attempts"),
      ...pick(orderRefunds, "orderId", "amountMinor", "createdAt", "state"),
      ...{ currency: payments.currency, intentId: sql<string>`${payments.reference}` },
      tenant: sql<string>`${tenantForWork}`,
    })
    .from(refundDeliveries)
    .innerJoin(orderRefunds, eq(orderRefunds.id, refundDeliveries.id))
    .innerJoin(payments, eq(payments.id, orderRefunds.paymentId))
    .innerJoin(t, eq(t.id, refundDeliveries.tenantId))
    .where(sql`${refundDeliveries.id} in (select value from json_each(${param("ids")}))`),
);
type RefundTask = NonNullable<(typeof read)["row"]> & Claim;
const queue = createQueue(refundDeliveries, { which, read, delivered: "delivered" });

/** Requests refunds from providers until they are accepted or refused. Each requested refund becomes a delivery. */
export function createRefundEngine(deps: PaymentDeps & ChannelDeps): DeliveryEngine<RefundTask> {
  const channel: Channel<RefundTask> = {
    queue,
    async createDeliveries() {
      await run(deps.db, create, { now: toTimestamp(deps.now()) });
    },
    async listReady() {
      const rows = await all(deps.db, selectReady, { now: toTimestamp(deps.now()) });
      return rows.map(({ id }) => ({ key: id, tenantId: id, receiver: id }));
    },
    prepare(task) {
      // A webhook call may have reported this refund already, so it is not requested again.
      if (task.state !== "requested") return { outcome: "dropped", error: null };
      const tenant = JSON.parse(task.tenant) as Tenant;
      const ctx: Ctx = { ...deps, tenant, actor: { kind: "server" }, requestId: task.id };
      const send = () => request(ctx, task);
      return { receiver: tenant.id, target: task.id, timeoutMs: attemptMs, send };
    },
    // The refund is requested again until the provider answers, because a request without an answer may have succeeded.
    nextAttemptAt: ({ attempts }) =>
      deps.now() + (retryDelayMs(delaysMs, Math.min(attempts, delaysMs.length)) as number),
  };
  return new DeliveryEngine(channel, { ...deps, policy });
}

/** Requests a refund from the provider. Records the answer or refusal before the delivery ends. */
async function request(ctx: Ctx, task: RefundTask): Promise<Answer> {
  const answer = await openProvider(ctx)
    .then((provider) => provider.refund(task, isOld(task, ctx.now())))
    .catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      return { id: null, state: "failed", error: error.message } as const;
    });
  await inTransaction(ctx, async (tx) => {
    const row = await findRefund(tx, task.id);
    if (row?.state === "requested") await advance(tx, row, answer);
  });
  return { result: "accepted", status: null, error: null, retryAfterMs: 0 };
}
