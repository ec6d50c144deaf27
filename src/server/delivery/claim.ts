import { type SQL, sql } from "drizzle-orm";
import { integer, type SQLiteTable, text } from "drizzle-orm/sqlite-core";
import type { WorkCtx } from "../context.ts";
import { all, bind, type Params, param, type Statement, statement } from "../db/statement.ts";
import { toTimestamp } from "../values/stamps.ts";

/** For this time after a claim, no other process can claim the delivery. It is longer than any attempt. */
export const leaseMs = 60_000;

export const deliveryColumns = {
  attempts: integer("attempts").notNull().default(0),
  nextAttemptAt: text("next_attempt_at").notNull(),
  leasedUntil: text("leased_until"),
  /** HTTP status of the last answer; null if there was no answer. `lastError` has the error of that attempt in words. */
  lastStatus: integer("last_status"),
  lastError: text("last_error"),
  createdAt: text("created_at").notNull(),
  finishedAt: text("finished_at"),
};

/** SQL for the id of a new delivery: the parameter `deliveryId`, whose end is replaced by the row's number. */
export const deliveryId = sql`substr(${param("deliveryId")}, 1, 24) || printf('%06d', row_number() over ())`;

export interface Claim {
  id: string;
  attempts: number;
  /** The end of the lease. It also distinguishes this claim from later claims. */
  lease: string;
}

export const isDue = sql`status = 'waiting' and next_attempt_at <= ${param("now")}`;

type Outcome = { status: number | null; error: string | null };

export type DeadEnd = { outcome: "failed" | "dropped" | "expired"; error: string | null };

export type Queue<Task> = ReturnType<typeof createQueue<Task & Omit<Claim, "lease">>>;

/**
 * Returns a function that claims deliveries of a table, and functions that return statements to end a claim.
 * @param options `which`: SQL for at most `max` ids of due deliveries of the source `key`, without suspended stores,
 * the most urgent first. `read`: selects deliveries by the JSON array `ids`. `onDelivered`, `onEnded`: more columns.
 */
export function createQueue<Task extends Omit<Claim, "lease">>(
  table: SQLiteTable,
  options: { which: SQL; read: Statement<Task>; delivered: "delivered" | "sent"; onDelivered?: SQL; onEnded?: SQL },
) {
  const { which, read, delivered, onDelivered = sql``, onEnded = sql`` } = options;
  const isActive = sql`exists(select 1 from tenants t where t.id = tenant_id and t.status = 'active')`;
  // One statement finds and leases deliveries, so that two processes cannot claim the same delivery.
  const lease = statement<{ id: string }>(sql`
    update ${table} set attempts = attempts + 1, next_attempt_at = ${param("lease")}, leased_until = ${param("lease")}
    where id in (${which}) and ${isActive} returning id`);
  const result = sql`last_status = ${param("status")}, last_error = ${param("error")}, leased_until = null`;
  // The statement ignores the lease: a message that arrived must not be sent again, even if it was claimed again.
  const markDelivered = statement(sql`
    update ${table} set status = ${sql.raw(`'${delivered}'`)}, ${result}, finished_at = ${param("now")} ${onDelivered}
    where id = ${param("id")} and status in ('waiting', 'failed', 'expired')`);
  // These statements do nothing if another process has claimed or ended the delivery since this claim.
  const ofClaim = (assignments: SQL) =>
    statement(sql`update ${table} set ${assignments}
      where id = ${param("id")} and status = 'waiting' and leased_until = ${param("lease")}`);
  const markEnded = ofClaim(sql`status = ${param("outcome")}, ${result}, finished_at = ${param("now")} ${onEnded}`);
  const postpone = ofClaim(sql`next_attempt_at = ${param("next")}, ${result}`);
  const release = ofClaim(sql`next_attempt_at = ${param("next")}, leased_until = null, attempts = attempts - 1`);
  return {
    async claim({ db, now }: WorkCtx, source: Params = {}): Promise<(Task & Claim)[]> {
      const until = toTimestamp(now() + leaseMs);
      const claims = await all(db, lease, { ...source, now: toTimestamp(now()), lease: until });
      if (claims.length === 0) return [];
      const tasks = await all(db, read, { ids: JSON.stringify(claims.map(({ id }) => id)) });
      return tasks.map((task) => ({ ...task, lease: until }));
    },
    delivered: ({ id }: Claim, { status }: Outcome, now: number) =>
      bind(markDelivered, { id, status, error: null, now: toTimestamp(now) }),
    ended: ({ id, lease }: Claim, { outcome, status, error }: Outcome & DeadEnd, now: number) =>
      bind(markEnded, { id, lease, outcome, status, error, now: toTimestamp(now) }),
    postponed: ({ id, lease }: Claim, { status, error }: Outcome, next: number) =>
      bind(postpone, { id, lease, next: toTimestamp(next), status, error }),
    /** Ends a claim whose attempt does not count. @param next when to try again, in epoch milliseconds. */
    released: ({ id, lease }: Claim, next: number) => bind(release, { id, lease, next: toTimestamp(next) }),
  };
}
