import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import { openContents } from "./outbox.ts";
import { mailOutbox } from "./table.ts";

const param = sql.placeholder;
const mostRows = 1000;

/** What can have become of a mail. */
export const mailStatuses = ["queued", "sent", "failed", "expired", "dropped"] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** A mail as the terminal prints it. */
export interface MailRecord {
  id: string;
  namespace: string;
  kind: string;
  /** Null once the contents are erased, or where the key cannot open them. */
  to: string | null;
  status: MailStatus;
  attempts: number;
  /** Null unless it waits. */
  next_attempt_at: string | null;
  useful_until: string | null;
  last_error: string | null;
  created_at: string;
  sent_at: string | null;
  /** Only where codes are asked for: of a reset mail whose contents are not erased. */
  code?: string;
}

interface MailFilter {
  namespace?: string | undefined;
  status?: MailStatus | undefined;
  /** From 1 to 1000. */
  limit: number;
  /** Whole addresses instead of `a***@example.com`. */
  showRecipients?: boolean;
  /** Namespace of the only store whose reset mails are shown with their codes: a demo's, which has no mail server. */
  showCodesOf?: string | undefined;
}

type MailRow = Omit<MailRecord, "to" | "code"> & { sealed: string | null };

const selectMail = statement<MailRow>(sql`
  select m.id, t.namespace, m.kind, m.status, m.attempts,
    case when m.status = 'queued' then m.next_attempt_at end as next_attempt_at,
    m.useful_until, m.last_error, m.created_at, m.sent_at, m.sealed
  from ${mailOutbox} m join ${tenants} t on t.id = m.tenant_id
  where (${param("namespace")} is null or t.namespace = ${param("namespace")})
    and (${param("status")} is null or m.status = ${param("status")})
  order by m.created_at desc, m.id desc limit ${param("limit")}`);

/**
 * The mail of one store or of all, newest first.
 * @throws AppError 5301 for an unknown tenant, 5102 for a limit out of range.
 */
export async function listMail(ctx: SystemCtx, filter: MailFilter): Promise<MailRecord[]> {
  const { namespace = null, status = null, limit, showRecipients = false, showCodesOf } = filter;
  if (!Number.isInteger(limit) || limit < 1 || limit > mostRows) {
    throw invalidField("limit", `must be a whole number from 1 to ${mostRows}`);
  }
  if (namespace !== null) await requireTenant(ctx, namespace);
  const rows = await all(ctx.db.primary, selectMail, { namespace, status, limit });
  return rows.map(({ sealed, ...row }) => {
    const contents = sealed === null ? null : openContents(ctx.vault, row.id, sealed);
    const address = contents === null ? null : "email" in contents.to ? contents.to.email : contents.to.emailKey;
    const { id, kind, namespace: store, ...rest } = row;
    const to = address === null || showRecipients ? address : maskAddress(address);
    const code = store === showCodesOf ? contents?.values.code : undefined;
    return { id, namespace: store, kind, to, ...rest, ...(code !== undefined && { code }) };
  });
}

/** `ada@example.com` as `a***@example.com`. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const [first = ""] = address;
  return `${first}***${address.slice(at)}`;
}
