import { sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pick } from "../../db/columns.ts";
import { params } from "../../db/conditions.ts";
import { createPurge } from "../../db/purge.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Vault } from "../../security/vault.ts";
import { emailKey } from "../../values/email.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { type MailKind, mailKinds } from "./kinds.ts";
import { mailOutbox } from "./table.ts";

/** After a long outage customers must not receive old mail. */
const usefulMs = 7 * 86_400_000;

const insertMail = statement((q) =>
  q.insert(mailOutbox).values({
    ...params("id", "tenantId", "kind", "subjectKey", "recipientKey", "sealed", "usefulUntil"),
    status: "queued",
    nextAttemptAt: param("now"),
    createdAt: param("now"),
    updatedAt: param("now"),
  }),
);
const expireReplaced = statement(sql`
  update ${mailOutbox} set status = 'expired', sealed = null, updated_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and subject_key = ${param("subjectKey")} and status = 'queued'`);

/**
 * The active user, of a role, who has this address when the mail is sent; a sign-up that waits for it, or a user who has it
 * then and gets an `account_exists` mail instead; or a fixed address.
 */
export type MailRecipient =
  | { emailKey: string; role?: "customer" }
  | { signUpKey: string; client?: string }
  | { email: string; name?: string | null | undefined; lang?: string | null | undefined };

export interface MailContents {
  to: MailRecipient;
  language?: string | undefined;
  values: Record<string, string>;
}

/**
 * Puts a mail into the outbox, and returns its id. Queueing takes the same time whether or not a user has the address,
 * because the user is looked up when it is sent.
 * @param mail `usefulUntil` in epoch milliseconds, a week unless given. `replaces`: waiting mail of this kind with the
 * same value is cancelled in the same transaction; mail that is being sent may still arrive.
 */
export async function queueMail(
  ctx: Ctx,
  mail: MailContents & { kind: MailKind; usefulUntil?: number | undefined; replaces?: string | undefined },
): Promise<string> {
  const missing = mailKinds[mail.kind].find((name) => mail.values[name] === undefined);
  if (missing !== undefined) throw new TypeError(`A ${mail.kind} mail needs a value for ${missing}.`);
  const id = newId("mail");
  const { to, language, values, kind, replaces } = mail;
  const tenantId = ctx.tenant.id;
  const now = toTimestamp(ctx.now());
  // Keyed, so that the database does not reveal the recipient.
  const subjectKey = replaces === undefined ? null : ctx.vault.mac("mail", `${tenantId}:${kind}:${replaces}`);
  await inTransaction(ctx, async ({ db }) => {
    if (subjectKey !== null) await run(db, expireReplaced, { tenantId, subjectKey, now });
    await run(db, insertMail, {
      id,
      tenantId,
      kind,
      subjectKey,
      recipientKey: recipientKey(ctx.vault, addressIn(mail)),
      sealed: sealContents(ctx.vault, id, { to, language, values }),
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

/** The recipient's address; that of a user is in the form that it is looked up by. */
export function addressIn({ to }: MailContents): string {
  if ("signUpKey" in to) return to.signUpKey;
  return "email" in to ? to.email : to.emailKey;
}

export function maskAddress(address: string): string {
  const [first = ""] = address;
  return `${first}…${address.slice(address.lastIndexOf("@"))}`;
}

/** The contents of a row; null if they were sealed with another key. */
export function openContents(vault: Vault, id: string, sealed: string): MailContents | null {
  const text = vault.open("mail", id, sealed);
  return text === null ? null : (JSON.parse(text) as MailContents);
}

const oldestDue = sql`select id from ${mailOutbox}
  where status = 'queued' and next_attempt_at <= ${param("now")} order by next_attempt_at, id limit 1`;
const selectNext = statement(oldestDue);
// Found and leased in one statement, so that no two processes can claim the same mail.
const claimNext = statement((q) =>
  q
    .update(mailOutbox)
    .set({ attempts: sql`attempts + 1`, nextAttemptAt: param("lease"), updatedAt: param("now") })
    .where(sql`id = (${oldestDue})`)
    .returning({
      ...pick(mailOutbox, "id", "tenantId", "kind", "sealed", "attempts", "usefulUntil"),
      lease: mailOutbox.nextAttemptAt,
    }),
);
const expireUseless = statement(sql`
  update ${mailOutbox} set status = 'expired', sealed = null, updated_at = ${param("now")}
  where id in (select id from ${mailOutbox} where status = 'queued' and useful_until <= ${param("now")} limit 1000)`);
const eraseFailed = statement(sql`
  update ${mailOutbox} set sealed = null where id in (select id from ${mailOutbox}
    where status = 'failed' and sealed is not null and useful_until <= ${param("now")} limit 1000)`);
const updateClaimed = statement(sql`
  update ${mailOutbox} set status = ${param("status")}, updated_at = ${param("now")},
    next_attempt_at = coalesce(${param("next")}, next_attempt_at),
    last_error = case when ${param("error")} is null and ${param("status")} = 'queued' then last_error else ${param("error")} end,
    sealed = case when ${param("status")} in ('queued', 'failed') then sealed end
  where id = ${param("id")} and status = 'queued' and next_attempt_at = ${param("lease")}`);
// Not bound to the lease: a mail that was sent is not sent again, even if another process has claimed or ended it since.
const markSent = statement(sql`
  update ${mailOutbox} set status = 'sent', sealed = null, masked_to = ${param("maskedTo")}, last_error = null,
    sent_at = ${param("now")}, updated_at = ${param("now")}
  where id = ${param("id")} and status in ('queued', 'failed', 'expired')`);

export const leaseMs = 180_000;
const keptMs = 30 * 86_400_000;

export type ClaimedMail = NonNullable<(typeof claimNext)["row"]>;

export async function hasDueMail({ db, now }: WorkCtx): Promise<boolean> {
  return (await get(db, selectNext, { now: toTimestamp(now()) })) !== undefined;
}

export function claimMail({ db, now }: WorkCtx) {
  return get(db, claimNext, { now: toTimestamp(now()), lease: toTimestamp(now() + leaseMs) });
}

/** Ends mail that has expired, and erases contents that ended mail still has, at most a thousand each per call. */
export async function expireMail(ctx: WorkCtx): Promise<number> {
  const now = toTimestamp(ctx.now());
  return (await run(ctx.db, expireUseless, { now })) + (await run(ctx.db, eraseFailed, { now }));
}

export const purgeMail = createPurge(
  mailOutbox,
  sql`status <> 'queued' and updated_at <= ${param("before")} order by updated_at`,
  keptMs,
);

/** Records that a mail was sent, and erases its contents; only the masked recipient is kept. */
export async function recordSent(ctx: WorkCtx & { vault: Vault }, { id, sealed }: ClaimedMail): Promise<void> {
  const contents = sealed === null ? null : openContents(ctx.vault, id, sealed);
  const maskedTo = contents && maskAddress(addressIn(contents));
  await run(ctx.db, markSent, { id, maskedTo, now: toTimestamp(ctx.now()) });
}

/**
 * Ends the claim of a mail that was not sent, unless another process has claimed it since. Failed mail can be retried.
 * @param outcome `next`, in epoch milliseconds, of a queued mail; a queued mail without an error keeps its last one.
 */
export async function endClaim(
  ctx: WorkCtx,
  { id, lease }: ClaimedMail,
  outcome: { status: "queued" | "failed" | "dropped" | "expired"; next?: number; error: string | null },
): Promise<void> {
  const next = outcome.next === undefined ? null : toTimestamp(outcome.next);
  await run(ctx.db, updateClaimed, { ...outcome, id, lease, next, now: toTimestamp(ctx.now()) });
}
