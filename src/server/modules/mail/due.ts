import { sql } from "drizzle-orm";
import type { Session } from "../../db/session.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { MailKind } from "./kinds.ts";
import { mailOutbox } from "./table.ts";

const isDue = sql`status = 'queued' and next_attempt_at <= ${param("now")}`;

const selectDue = statement<{ useful_until: string | null }>(sql`
  select useful_until from ${mailOutbox} where ${isDue} order by next_attempt_at, id limit 1`);
// Found and taken in one statement, so that no two senders can take the same one.
const takeDue = statement<DueMail>(sql`
  update ${mailOutbox} set attempts = attempts + 1, next_attempt_at = ${param("lease")}, updated_at = ${param("now")}
  where id = (select id from ${mailOutbox} where ${isDue} and (useful_until is null or useful_until > ${param("now")})
    order by next_attempt_at, id limit 1)
  returning id, tenant_id, kind, sealed, attempts, next_attempt_at as lease, useful_until`);
const expireUseless = statement(sql`
  update ${mailOutbox} set status = 'expired', sealed = null, updated_at = ${param("now")}
  where id in (select id from ${mailOutbox} where status = 'queued' and useful_until <= ${param("now")} limit 1000)`);
const eraseFailed = statement(sql`
  update ${mailOutbox} set sealed = null where id in (select id from ${mailOutbox}
    where status = 'failed' and sealed is not null and useful_until <= ${param("now")} limit 1000)`);
const removeDone = statement(sql`
  delete from ${mailOutbox} where id in (select id from ${mailOutbox}
    where status <> 'queued' and updated_at <= ${param("before")} order by updated_at limit 1000)`);
const isOurs = sql`id = ${param("id")} and status = 'queued' and next_attempt_at = ${param("lease")}`;
const closeMail = statement(sql`
  update ${mailOutbox} set status = ${param("status")}, last_error = ${param("error")}, updated_at = ${param("now")},
    sealed = case when ${param("status")} = 'failed' then sealed end
  where ${isOurs}`);
const postponeMail = statement(sql`
  update ${mailOutbox} set next_attempt_at = ${param("next")}, last_error = ${param("error")},
    updated_at = ${param("now")}
  where ${isOurs}`);
const returnMail = statement(sql`
  update ${mailOutbox} set next_attempt_at = ${param("now")}, updated_at = ${param("now")} where ${isOurs}`);
// Whoever has taken or ended it meanwhile: it is sent, and must not be sent again.
const markSent = statement(sql`
  update ${mailOutbox} set status = 'sent', sealed = null, last_error = null, sent_at = ${param("now")},
    updated_at = ${param("now")}
  where id = ${param("id")} and status in ('queued', 'failed', 'expired')`);

/** For longer than an attempt can take, nobody else takes a mail that one sender has taken. */
export const leaseMs = 180_000;
const keptMs = 30 * 86_400_000;

/** A mail that one sender has taken. */
export interface DueMail {
  id: string;
  tenant_id: string;
  kind: MailKind;
  sealed: string | null;
  attempts: number;
  /** Until then it is this sender's. */
  lease: string;
  useful_until: string | null;
}

interface OutboxContext {
  db: Session;
  now: () => number;
}

/** Takes the mail that has been due the longest; undefined when none is due, which costs one read. */
export async function takeMail(ctx: OutboxContext): Promise<DueMail | undefined> {
  for (;;) {
    const at = ctx.now();
    const now = toTimestamp(at);
    const first = await get(ctx.db, selectDue, { now });
    if (!first) return undefined;
    const taken = await get(ctx.db, takeDue, { now, lease: toTimestamp(at + leaseMs) });
    if (taken) return taken;
    if (first.useful_until !== null && first.useful_until <= now) await expireMail(ctx);
  }
}

/** Ends mail that nobody wants any more, and erases what is left of its contents, at most a thousand each a call. */
export async function expireMail(ctx: OutboxContext): Promise<number> {
  const now = toTimestamp(ctx.now());
  return (await run(ctx.db, expireUseless, { now })) + (await run(ctx.db, eraseFailed, { now }));
}

/** Removes mail that has been done with for thirty days, at most a thousand a call. Returns how many went. */
export function sweepMail(ctx: OutboxContext): Promise<number> {
  return run(ctx.db, removeDone, { before: toTimestamp(ctx.now() - keptMs) });
}

/** Notes that a mail was sent, and erases its contents. */
export async function recordSent(ctx: OutboxContext, { id }: DueMail): Promise<void> {
  await run(ctx.db, markSent, { id, now: toTimestamp(ctx.now()) });
}

/** Ends a mail; the contents of one that failed stay, for another try by hand. */
export async function recordEnd(
  ctx: OutboxContext,
  { id, lease }: DueMail,
  status: "failed" | "dropped",
  error: string | null,
): Promise<void> {
  await run(ctx.db, closeMail, { id, lease, status, error, now: toTimestamp(ctx.now()) });
}

/** Lets a mail wait for its next attempt. @param next epoch milliseconds. */
export async function recordDelay(
  ctx: OutboxContext,
  { id, lease }: DueMail,
  next: number,
  error: string,
): Promise<void> {
  await run(ctx.db, postponeMail, {
    id,
    lease,
    next: toTimestamp(next),
    error,
    now: toTimestamp(ctx.now()),
  });
}

/** Gives back what a sender that stops has taken, so that the next one need not wait for the lease to run out. */
export async function returnDue(ctx: OutboxContext, { id, lease }: DueMail): Promise<void> {
  await run(ctx.db, returnMail, { id, lease, now: toTimestamp(ctx.now()) });
}
