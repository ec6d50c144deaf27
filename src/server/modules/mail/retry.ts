import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import { getMail } from "./list.ts";
import { mailOutbox } from "./table.ts";

const requeue = sql`update ${mailOutbox} set status = 'queued', attempts = 0, next_attempt_at = ${param("now")},
  updated_at = ${param("now")}
  where status = 'failed' and sealed is not null and (useful_until is null or useful_until > ${param("now")})`;
const retryOne = statement(sql`${requeue} and id = ${param("id")}`);
const retryAll = statement<{ namespace: string }>(sql`
  ${requeue} and (${param("tenantId")} is null or tenant_id = ${param("tenantId")})
  returning (select namespace from ${tenants} t where t.id = tenant_id) as namespace`);

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
    if (which === "all") {
      const retried = await all(tx.db, retryAll, { tenantId, now });
      for (const [owner, { length: count }] of Map.groupBy(retried, (row) => row.namespace)) {
        await recordAudit(tx, { event: "mail.retried", namespace: owner, details: { count } });
      }
      return retried.length;
    }
    const ids = new Set(which);
    for (const id of ids) {
      const mail = await getMail(tx, id, { namespace });
      if ((await run(tx.db, retryOne, { id, now })) === 0) {
        const reason = mail.status === "failed" ? "has expired" : `is ${mail.status}; only failed mail can be retried`;
        throw wrongState(`Mail ${id} ${reason}.`);
      }
      await recordAudit(tx, { event: "mail.retried", namespace: mail.namespace, subject: id });
    }
    return ids.size;
  });
}
