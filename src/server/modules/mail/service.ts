import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { requireWhole } from "../../values/whole-number.ts";
import { recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import type { AnyMailKind } from "./kinds.ts";
import { addressIn, maskAddress, openContents, recipientKey } from "./outbox.ts";
import { mailOutbox } from "./table.ts";

const maxRows = 1000;

type MailStatus = "queued" | "sent" | "failed" | "expired" | "dropped";

/** A mail as the terminal prints it. */
export interface MailRecord {
  id: string;
  namespace: string;
  kind: string;
  /** Masked once the mail is sent; null once the contents are erased otherwise, or if the key cannot open them. */
  to: string | null;
  status: MailStatus;
  attempts: number;
  /** Null unless it waits. */
  next_attempt_at: string | null;
  useful_until: string | null;
  last_error: string | null;
  created_at: string;
  sent_at: string | null;
  /** Only with `showCodesOf`: of a reset mail whose contents are not erased. */
  code?: string;
}

interface MailFilter extends MailView {
  namespace?: string | undefined;
  status?: MailStatus | undefined;
  kind?: AnyMailKind | undefined;
  /** RFC 3339; not older. */
  since?: string | undefined;
  /** A whole address. */
  to?: string | undefined;
  /** From 1 to 1000. */
  limit: number;
}

interface MailView {
  /** Whole addresses instead of `a…@example.com`. */
  showRecipients?: boolean;
  /** Namespace of the only store whose reset mails are shown with their codes: a demo's, which has no mail server. */
  showCodesOf?: string | undefined;
}

type MailRow = Omit<MailRecord, "to" | "code"> & Record<"sealed" | "masked_to", string | null>;

const columns = sql`m.id, t.namespace, m.kind, m.status, m.attempts,
  case when m.status = 'queued' then m.next_attempt_at end as next_attempt_at,
  m.useful_until, m.last_error, m.created_at, m.sent_at, m.sealed, m.masked_to
  from ${mailOutbox} m join ${tenants} t on t.id = m.tenant_id`;
const selectOne = statement<MailRow>(sql`
  select ${columns} where m.id = ${param("id")} and (${param("namespace")} is null or t.namespace = ${param("namespace")})`);
const selectMail = statement<MailRow>(sql`
  select ${columns}
  where (${param("namespace")} is null or t.namespace = ${param("namespace")})
    and (${param("status")} is null or m.status = ${param("status")})
    and (${param("kind")} is null or m.kind = ${param("kind")})
    and (${param("since")} is null or m.created_at >= ${param("since")})
    and (${param("recipientKey")} is null or m.recipient_key = ${param("recipientKey")})
  order by m.created_at desc, m.id desc limit ${param("limit")}`);

/**
 * The mail of one store or of all, newest first.
 * @throws notFound for an unknown tenant, validationFailed for a limit out of range.
 */
export async function listMail(ctx: SystemCtx, filter: MailFilter): Promise<MailRecord[]> {
  const { namespace = null, status = null, kind = null, since = null, limit } = filter;
  requireWhole("limit", limit, 1, maxRows);
  if (namespace !== null) await requireTenant(ctx, namespace);
  const to = filter.to === undefined ? null : recipientKey(ctx.vault, filter.to);
  const rows = await all(ctx.db, selectMail, { namespace, status, kind, since, recipientKey: to, limit });
  return rows.map((row) => toRecord(ctx, row, filter));
}

/** One mail. Errors: notFound if no mail has this id, or it belongs to another store than the named one. */
export async function getMail(
  ctx: SystemCtx,
  id: string,
  { namespace = null, ...view }: MailView & { namespace?: string | undefined | null } = {},
): Promise<MailRecord> {
  if (namespace !== null) await requireTenant(ctx, namespace);
  const row = await get(ctx.db, selectOne, { id, namespace });
  if (!row) throw notFound("mail", id, { remedy: "List mail: bodega mail list" });
  return toRecord(ctx, row, view);
}

function toRecord(ctx: SystemCtx, row: MailRow, { showRecipients = false, showCodesOf }: MailView): MailRecord {
  const { id, namespace, kind, sealed, masked_to, ...rest } = row;
  const contents = sealed === null ? null : openContents(ctx.vault, id, sealed);
  const address = contents && addressIn(contents);
  const code = contents?.values.code;
  const to = address === null ? masked_to : showRecipients ? address : maskAddress(address);
  return { id, namespace, kind, to, ...rest, ...(code !== undefined && namespace === showCodesOf && { code }) };
}

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
