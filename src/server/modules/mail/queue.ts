import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import type { ChannelDeps } from "../../delivery/channel.ts";
import { type Claim, createPullBack } from "../../delivery/claim.ts";
import type { Vault } from "../../security/vault.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { MailKind } from "./kinds.ts";
import { addressIn, maskAddress, openContents } from "./outbox.ts";
import { mailOutbox } from "./table.ts";

const isDue = sql`status = 'queued' and next_attempt_at <= ${param("now")}`;

const selectNext = statement<{ useful_until: string | null }>(sql`
  select useful_until from ${mailOutbox} where ${isDue} order by next_attempt_at, id limit 1`);
// Found and leased in one statement, so that no two processes can claim the same mail.
const claimNext = statement<ClaimedMail>(sql`
  update ${mailOutbox} set attempts = attempts + 1, next_attempt_at = ${param("lease")}, updated_at = ${param("now")}
  where id = (select id from ${mailOutbox} where ${isDue} and (useful_until is null or useful_until > ${param("useful")})
    order by next_attempt_at, id limit 1)
  returning id, tenant_id, kind, sealed, attempts, next_attempt_at as lease, useful_until`);
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

/** How long no other process can claim the mail; longer than any attempt. */
export const leaseMs = 180_000;
const keptMs = 30 * 86_400_000;

export interface ClaimedMail extends Claim {
  tenant_id: string;
  kind: MailKind;
  sealed: string | null;
  useful_until: string | null;
}

/** Claims the mail that has been due the longest; undefined when none is due, which costs one read. */
export async function claimMail(ctx: WorkCtx & Pick<ChannelDeps, "isClockSteady">): Promise<ClaimedMail | undefined> {
  for (;;) {
    const at = ctx.now();
    const now = toTimestamp(at);
    // With a clock that jumped, mail may seem to have expired.
    const useful = ctx.isClockSteady?.() === false ? "" : now;
    const first = await get(ctx.db, selectNext, { now });
    if (!first) return undefined;
    const claimed = await get(ctx.db, claimNext, { now, useful, lease: toTimestamp(at + leaseMs) });
    if (claimed) return claimed;
    if (first.useful_until !== null && first.useful_until <= now) await expireMail(ctx);
  }
}

/** Ends mail that has expired, and erases contents that ended mail still has, at most a thousand each per call. */
export async function expireMail(ctx: WorkCtx): Promise<number> {
  const now = toTimestamp(ctx.now());
  return (await run(ctx.db, expireUseless, { now })) + (await run(ctx.db, eraseFailed, { now }));
}

export const pullMailBack = createPullBack(mailOutbox, sql`status = 'queued'`);

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
 * Ends the claim of a mail that was not sent, unless another process has claimed it since. The contents of failed mail
 * are kept, so that an operator can retry it.
 * @param outcome `next`, in epoch milliseconds, of a queued mail; a queued mail without an error keeps its last one.
 */
export async function endClaim(
  ctx: WorkCtx,
  { id, lease }: ClaimedMail,
  outcome: { status: "queued" | "failed" | "dropped"; next?: number; error: string | null },
): Promise<void> {
  const next = outcome.next === undefined ? null : toTimestamp(outcome.next);
  await run(ctx.db, updateClaimed, { ...outcome, id, lease, next, now: toTimestamp(ctx.now()) });
}
