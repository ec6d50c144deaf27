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

export type MailRecord = ReturnType<typeof toRecord>;

interface MailFilter extends MailView {
  namespace?: string | undefined;
  status?: typeof mailOutbox.$inferSelect.status | undefined;
  kind?: AnyMailKind | undefined;
  since?: string | undefined;
  to?: string | undefined;
  limit: number;
}

interface MailView {
  showRecipients?: boolean;
  /** Namespace of the only store whose mails are shown with their codes: the demo's, which has no mail server. */
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
const selectMail = (condition: SQL | undefined) =>
  statement((q) => {
    const mail = q.select(columns).from(mailOutbox).innerJoin(tenants, eq(tenants.id, mailOutbox.tenantId));
    const matching = mail.where(and(matches(tenants.namespace, "namespace"), condition));
    return matching.orderBy(desc(mailOutbox.createdAt), desc(mailOutbox.id)).limit(sql.placeholder("limit"));
  });
const selectOne = selectMail(equals(mailOutbox.id, "id"));
const selectMany = selectMail(
  and(
    matches(mailOutbox.status, "status"),
    matches(mailOutbox.kind, "kind"),
    sql`(${param("since")} is null or ${mailOutbox.createdAt} >= ${param("since")})`,
    matches(mailOutbox.recipientKey, "recipientKey"),
  ),
);

/** The mail of one store or of all, newest first. Errors: notFound for an unknown tenant, validationFailed. */
export async function listMail(ctx: SystemCtx, filter: MailFilter) {
  const { namespace = null, status = null, kind = null, since = null, limit } = filter;
  requireWhole("limit", limit, 1, maxRows);
  if (namespace !== null) await requireTenant(ctx, namespace);
  const to = filter.to === undefined ? null : recipientKey(ctx.vault, filter.to);
  const rows = await all(ctx.db, selectMany, { namespace, status, kind, since, recipientKey: to, limit });
  return rows.map((row) => toRecord(ctx, row, filter));
}

/** Returns one mail. Errors: notFound if no mail has this id, or another store's mail has it. */
export async function getMail(
  ctx: SystemCtx,
  id: string,
  { namespace = null, ...view }: MailView & { namespace?: string | undefined | null } = {},
) {
  if (namespace !== null) await requireTenant(ctx, namespace);
  const row = await get(ctx.db, selectOne, { id, namespace, limit: 1 });
  if (!row) throw notFound("mail", id, { remedy: "List mail: bodega mail list" });
  return toRecord(ctx, row, view);
}

/** Without `showRecipients`, or once the contents are erased, `to` is masked. Erased contents show no `code`. */
function toRecord(
  { vault }: SystemCtx,
  { id, namespace, kind, maskedTo, sealed, ...rest }: NonNullable<(typeof selectOne)["row"]>,
  { showRecipients = false, showCodesOf }: MailView,
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
const retryOne = requeue(equals(mailOutbox.id, "id"));
const retryAll = requeue(matches(mailOutbox.tenantId, "tenantId"));

/**
 * Queues failed mail again: all given ids, or all that has not expired. Counts attempts from zero again. Returns how
 * many.
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
    for (const id of ids) {
      const mail = await getMail(tx, id, { namespace });
      if ((await run(tx.db, retryOne, { id, now })) === 0) throw cannotRetry(mail);
      await recordAudit(tx, { event: "mail.retried", namespace: mail.namespace, subject: id });
    }
    return ids.size;
  });
}

function cannotRetry({ id, status }: MailRecord) {
  const reason = status === "failed" ? "has expired" : `is ${status}; only failed mail can be retried`;
  return wrongState(`Mail ${id} ${reason}.`);
}
