import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, notFound, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import { mailOutbox } from "./table.ts";

const isRetryable = sql`status = 'failed' and sealed is not null
  and (useful_until is null or useful_until > ${param("now")})`;
const requeue = sql`update ${mailOutbox} set status = 'queued', attempts = 0, next_attempt_at = ${param("now")},
  updated_at = ${param("now")}`;

const retryOne = statement(sql`${requeue} where id = ${param("id")} and ${isRetryable}`);
const retryAll = statement<{ tenant_id: string }>(sql`
  ${requeue} where ${isRetryable} and (${param("tenantId")} is null or tenant_id = ${param("tenantId")})
  returning tenant_id`);
const selectMail = statement<{ status: string; namespace: string }>(sql`
  select m.status, t.namespace from ${mailOutbox} m join ${tenants} t on t.id = m.tenant_id
  where m.id = ${param("id")} and (${param("tenantId")} is null or m.tenant_id = ${param("tenantId")})`);
const selectNamespace = statement<{ namespace: string }>(sql`
  select namespace from ${tenants} where id = ${param("id")}`);

/**
 * Queues failed mail again, from the first attempt on: either all of the given ids, or all mail that has not expired.
 * @returns how many.
 * @throws notFound for an unknown tenant or mail, wrongState for a mail that has not failed or has expired.
 */
export function retryMail(
  ctx: SystemCtx,
  { namespace, which }: { namespace?: string | undefined; which: readonly string[] | "all" },
): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const tenantId = namespace === undefined ? null : (await requireTenant(tx, namespace)).id;
    const now = toTimestamp(ctx.now());
    if (which === "all") return retryAllFailed(tx, { tenantId, now });
    const ids = new Set(which);
    for (const id of ids) {
      const mail = await get(tx.db, selectMail, { id, tenantId });
      if (!mail) throw notFound("mail", id);
      if ((await run(tx.db, retryOne, { id, now })) === 0) throw explainRefusal(id, mail.status);
      await recordAudit(tx, { event: "mail.retried", namespace: mail.namespace, subject: id });
    }
    return ids.size;
  });
}

async function retryAllFailed(tx: SystemCtx, params: { tenantId: string | null; now: string }): Promise<number> {
  const retried = await all(tx.db, retryAll, params);
  const counts = Map.groupBy(retried, ({ tenant_id }) => tenant_id);
  for (const [id, { length: count }] of counts) {
    const tenant = await get(tx.db, selectNamespace, { id });
    await recordAudit(tx, { event: "mail.retried", namespace: tenant?.namespace, details: { count } });
  }
  return retried.length;
}

function explainRefusal(id: string, status: string): AppError {
  const reason = status === "failed" ? "has expired" : `is ${status}; only failed mail can be retried`;
  return wrongState(`Mail ${id} ${reason}.`);
}
