import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, statement } from "../../db/statement.ts";
import { notFound } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { requireWhole } from "../../values/whole-number.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import type { AnyMailKind } from "./kinds.ts";
import { addressIn, maskAddress, openContents } from "./outbox.ts";
import { mailOutbox } from "./table.ts";

const maxRows = 1000;
/** A search by recipient decrypts this many of the newest mails. */
const maxOpened = 10_000;

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
  /** A whole address; matches mail whose contents are not erased. */
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
    and (${param("isOpened")} = 0 or m.sealed is not null)
  order by m.created_at desc, m.id desc limit ${param("limit")}`);

/**
 * The mail of one store or of all, newest first.
 * @throws notFound for an unknown tenant, validationFailed for a limit out of range.
 */
export async function listMail(ctx: SystemCtx, filter: MailFilter): Promise<MailRecord[]> {
  const { namespace = null, status = null, kind = null, since = null, to, limit } = filter;
  requireWhole("limit", limit, 1, maxRows);
  if (namespace !== null) await requireTenant(ctx, namespace);
  const asked = { namespace, status, kind, since };
  if (to === undefined) {
    const rows = await all(ctx.db, selectMail, { ...asked, isOpened: 0, limit });
    return rows.map((row) => toRecord(ctx, row, filter));
  }
  const wanted = emailKey(to);
  const rows = await all(ctx.db, selectMail, { ...asked, isOpened: 1, limit: maxOpened });
  const matching = rows.filter((row) => wanted !== null && emailKey(open(ctx, row).address ?? "") === wanted);
  return matching.slice(0, limit).map((row) => toRecord(ctx, row, filter));
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

function open(ctx: SystemCtx, { id, sealed }: MailRow) {
  const contents = sealed === null ? null : openContents(ctx.vault, id, sealed);
  if (contents === null) return { address: null };
  return { address: addressIn(contents), code: contents.values.code };
}

function toRecord(ctx: SystemCtx, row: MailRow, { showRecipients = false, showCodesOf }: MailView): MailRecord {
  const { id, namespace, kind, sealed: _, masked_to, ...rest } = row;
  const { address, code } = open(ctx, row);
  const to = address === null ? masked_to : showRecipients ? address : maskAddress(address);
  return { id, namespace, kind, to, ...rest, ...(code !== undefined && namespace === showCodesOf && { code }) };
}
