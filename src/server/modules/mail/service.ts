import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { pickStored } from "../../db/selection.ts";
import { all, equals, get, matches, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, wrongState } from "../../errors.ts";
import { requireWhole } from "../../values/fields.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import type { AnyMailKind } from "./kinds.ts";
import { addressIn, openContents, recipientKey } from "./outbox.ts";
import { mailOutbox } from "./table.ts";

const maxRows = 1000;

interface MailFilter {
  namespace?: string | undefined;
  status?: typeof mailOutbox.$inferSelect.status | undefined;
  kind?: AnyMailKind | undefined;
  since?: string | undefined;
  to?: string | undefined;
  limit: number;
  showRecipients?: boolean;
  /** Namespace of the demo, which has no mail server: its mails are shown with their codes. */
  showCodesOf?: string | undefined;
}

const columns = {
  ...{ id: mailOutbox.id, namespace: tenants.namespace, kind: mailOutbox.kind, maskedTo: mailOutbox.maskedTo },
  ...pickStored(mailOutbox, "status", "attempts"),
  next_attempt_at: sql<string | null>`case when ${mailOutbox.status} = 'waiting' then ${mailOutbox.nextAttemptAt} end`,
  ...pickStored(mailOutbox, "usefulUntil", "lastError", "createdAt"),
  sent_at: sql<string | null>`case when ${mailOutbox.status} = 'sent' then ${mailOutbox.finishedAt} end`,
  sealed: mailOutbox.sealed,
};
const isOfTenant = eq(tenants.id, mailOutbox.tenantId);
const isListed = and(
  matches(tenants.namespace, "namespace"),
  matches(mailOutbox.status, "status"),
  matches(mailOutbox.kind, "kind"),
  sql`(${param("since")} is null or ${mailOutbox.createdAt} >= ${param("since")})`,
  matches(mailOutbox.recipientKey, "recipientKey"),
);
const selectMail = statement((q) => {
  const matching = q.select(columns).from(mailOutbox).innerJoin(tenants, isOfTenant).where(isListed);
  return matching.orderBy(desc(mailOutbox.createdAt), desc(mailOutbox.id)).limit(sql.placeholder("limit"));
});

/** Lists the mail of one or all stores, newest first. Errors: notFound for an unknown tenant, validationFailed. */
export async function listMail(ctx: SystemCtx, filter: MailFilter) {
  const { namespace = null, status = null, kind = null, since = null, limit } = filter;
  requireWhole("limit", limit, 1, maxRows);
  if (namespace !== null) await requireTenant(ctx, namespace);
  const to = filter.to === undefined ? null : recipientKey(ctx.vault, filter.to);
  const rows = await all(ctx.db, selectMail, { namespace, status, kind, since, recipientKey: to, limit });
  return rows.map((row) => toRecord(ctx, row, filter));
}

/** Returns a mail for the list. `to` is masked without `showRecipients`, and after the contents were erased. */
function toRecord(
  { vault }: SystemCtx,
  { id, namespace, kind, maskedTo, sealed, ...rest }: NonNullable<(typeof selectMail)["row"]>,
  { showRecipients = false, showCodesOf }: MailFilter,
) {
  const contents = sealed === null ? null : openContents(vault, id, sealed);
  // In a mail about an order, the link counts as its code.
  const code = contents?.values.code ?? contents?.values.link;
  const to = contents && showRecipients ? addressIn(contents) : maskedTo;
  return { id, namespace, kind, to, ...rest, ...(code !== undefined && namespace === showCodesOf && { code }) };
}

const namespaceOf = sql<string>`(select namespace from ${tenants} t where t.id = tenant_id)`;
const requeue = (condition: SQL) => {
  const canRetry = sql`status = 'failed' and sealed is not null
    and (useful_until is null or useful_until > ${param("now")}) and ${condition}`;
  const again = { status: "waiting", attempts: 0, nextAttemptAt: param("now"), finishedAt: null } as const;
  return statement((q) => q.update(mailOutbox).set(again).where(canRetry).returning({ namespace: namespaceOf }));
};
const isOne = and(equals(mailOutbox.id, "id"), matches(mailOutbox.tenantId, "tenantId"));
const selectOne = statement((q) =>
  q.select({ status: mailOutbox.status, namespace: namespaceOf }).from(mailOutbox).where(isOne),
);
const retryOne = requeue(equals(mailOutbox.id, "id"));
const retryAll = requeue(matches(mailOutbox.tenantId, "tenantId"));

/**
 * Queues failed mail again: the given ids, or all failed mail that has not expired. Attempts are counted from zero.
 * Returns the number of mails.
 * @throws notFound for an unknown tenant or mail, wrongState for a mail that has not failed or has expired.
 */
export function retryMail(
  ctx: SystemCtx,
  { namespace, which }: { namespace?: string | undefined; which: readonly string[] | "all" },
): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const tenantId = namespace === undefined ? null : (await requireTenant(tx, namespace)).id;
    const now = toTimestamp(tx.now());
    if (which === "all") {
      const retried = await all(tx.db, retryAll, { tenantId, now });
      for (const [owner, { length: count }] of Map.groupBy(retried, (row) => row.namespace)) {
        await recordAudit(tx, { event: "mail.retried", namespace: owner, details: { count } });
      }
      return retried.length;
    }
    const ids = new Set(which);
    for (const id of ids) await requeueOne(tx, { id, tenantId, now });
    return ids.size;
  });
}

async function requeueOne(tx: SystemCtx, values: { id: string; tenantId: string | null; now: string }): Promise<void> {
  const { id } = values;
  const mail = await get(tx.db, selectOne, values);
  if (!mail) throw notFound("mail", id, { remedy: "List mail: bodega mail list" });
  if ((await run(tx.db, retryOne, values)) === 0) {
    const reason = mail.status === "failed" ? "has expired" : `is ${mail.status}; only failed mail can be retried`;
    throw wrongState(`Mail ${id} ${reason}.`);
  }
  await recordAudit(tx, { event: "mail.retried", namespace: mail.namespace, subject: id });
}
