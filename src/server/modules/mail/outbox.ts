import { sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { createPurge, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { createQueue, isDue } from "../../delivery/claim.ts";
import type { Vault } from "../../security/vault.ts";
import { emailKey } from "../../values/email.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { tenants } from "../tenants/table.ts";
import { type MailKind, mailKinds } from "./kinds.ts";
import type { MailOrder } from "./order-table.ts";
import { mailOutbox } from "./table.ts";

/** How long mail is useful. After an outage, mail that has waited longer is not sent. */
const usefulMs = 7 * 86_400_000;

const waiting = {
  ...params("id", "tenantId", "kind", "subjectKey", "causeKey", "recipientKey", "sealed", "maskedTo", "usefulUntil"),
  ...{ status: "waiting" as const, nextAttemptAt: param("now"), createdAt: param("now") },
};
const insertMail = statement((q) => q.insert(mailOutbox).values(waiting).onConflictDoNothing());
const expireReplaced = statement(sql`
  update ${mailOutbox} set status = 'expired', sealed = null, finished_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and subject_key = ${param("subjectKey")} and status = 'waiting'`);

/**
 * The recipient of a mail. `emailKey`: the active user who has this address when the mail is sent. `signUpKey`: the
 * address of a sign-up; if a user has the address when the mail is sent, the mail becomes an `account_exists` mail.
 * `email`: a fixed address.
 */
export type MailRecipient =
  | { emailKey: string; role?: "customer" }
  | { signUpKey: string; client?: string }
  | { email: string; name?: string | null | undefined; lang?: string | null | undefined };

export interface MailContents {
  to: MailRecipient;
  language?: string | undefined;
  values: Record<string, string>;
  order?: MailOrder | undefined;
  /** Mails with the same thread are shown as one conversation. */
  thread?: string | undefined;
}

export type MailCtx = Pick<Ctx, "db" | "tenant" | "now" | "vault">;

/**
 * Queues a mail and returns its id. This takes the same time whether or not a user has the address, because the user is
 * looked up when the mail is sent.
 * @param mail `usefulUntil` in epoch milliseconds, by default a week from now. `replaces`: waiting mail of this kind
 * with the same value is cancelled in the same transaction; mail that is being sent may still arrive. `cause`: only the
 * first mail of this kind with the same value is queued.
 */
export async function queueMail(
  ctx: MailCtx,
  mail: MailContents & {
    kind: MailKind;
    usefulUntil?: number | undefined;
    replaces?: string | undefined;
    cause?: string | undefined;
  },
): Promise<string> {
  const given = { ...mail.values, ...mail.order?.amounts };
  const missing = mailKinds[mail.kind].find((name) => given[name] === undefined);
  if (missing !== undefined) throw new TypeError(`A ${mail.kind} mail needs a value for ${missing}.`);
  const id = newId("mail");
  const { to, language, values, order, thread, kind, replaces, cause } = mail;
  const tenantId = ctx.tenant.id;
  const now = toTimestamp(ctx.now());
  const address = addressIn(mail);
  const [first = ""] = address;
  // The hashes are keyed, so that the database does not reveal the recipient.
  const keyOf = (what: string | undefined) =>
    what === undefined ? null : ctx.vault.mac("mail", `${tenantId}:${kind}:${what}`);
  const [subjectKey, causeKey] = [keyOf(replaces), keyOf(cause)];
  await inTransaction(ctx, async ({ db }) => {
    if (subjectKey !== null) await run(db, expireReplaced, { tenantId, subjectKey, now });
    await run(db, insertMail, {
      id,
      tenantId,
      kind,
      subjectKey,
      causeKey,
      recipientKey: recipientKey(ctx.vault, address),
      maskedTo: `${first}…${address.slice(address.lastIndexOf("@"))}`,
      sealed: sealContents(ctx.vault, id, { to, language, values, order, thread }),
      usefulUntil: toTimestamp(mail.usefulUntil ?? ctx.now() + usefulMs),
      now,
    });
  });
  return id;
}

export function recipientKey(vault: Vault, address: string): string {
  return vault.mac("mail", `to:${emailKey(address)}`);
}

export function sealContents(vault: Vault, id: string, contents: MailContents): string {
  return vault.seal("mail", id, JSON.stringify(contents));
}

/** Returns the recipient's address; for a user, the normalized address. */
export function addressIn({ to }: MailContents): string {
  if ("signUpKey" in to) return to.signUpKey;
  return "email" in to ? to.email : to.emailKey;
}

/** Returns the contents of a mail; null if they were encrypted with another key. */
export function openContents(vault: Vault, id: string, sealed: string): MailContents | null {
  const text = vault.open("mail", id, sealed);
  return text === null ? null : (JSON.parse(text) as MailContents);
}

// The mail of a suspended store waits, and does not delay other mail.
const which = sql`
  select m.id from ${mailOutbox} m join ${tenants} t on t.id = m.tenant_id
    where m.status = 'waiting' and m.next_attempt_at <= ${param("now")} and t.status = 'active'
    order by m.next_attempt_at, m.id limit 1`;
const claimed = pick(mailOutbox, "id", "tenantId", "kind", "sealed", "usefulUntil", "attempts");
const isClaimed = sql`id in (select value from json_each(${param("ids")}))`;
const read = statement((q) => q.select(claimed).from(mailOutbox).where(isClaimed));
export const selectDue = statement(sql`select 1 from ${mailOutbox} where ${isDue} limit 1`);
/** The contents of a mail are erased when it is sent, expires or is dropped. A failed mail keeps them for a retry. */
export const mailQueue = createQueue(mailOutbox, {
  ...{ which, read, delivered: "sent" },
  onDelivered: sql`, sealed = null`,
  onEnded: sql`, sealed = iif(${param("outcome")} = 'failed', sealed, null)`,
});
const expire = statement(sql`
  update ${mailOutbox} set sealed = null, status = iif(status = 'waiting', 'expired', status),
    finished_at = iif(status = 'waiting', ${param("now")}, finished_at)
  where id in (select id from ${mailOutbox}
    where status in ('waiting', 'failed') and sealed is not null and useful_until <= ${param("now")} limit 1000)`);

const keptMs = 30 * 86_400_000;

export type ClaimedMail = Awaited<ReturnType<typeof mailQueue.claim>>[number];

/** After the time of a mail, marks it as expired if it waits, and erases its contents. At most 1000 mails a call. */
export const expireMail = ({ db, now }: WorkCtx): Promise<number> => run(db, expire, { now: toTimestamp(now()) });

export const purgeMail = createPurge(
  mailOutbox,
  sql`status <> 'waiting' and finished_at <= ${param("before")} order by finished_at`,
  keptMs,
);
