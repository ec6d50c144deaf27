import { type SQL, sql } from "drizzle-orm";
import { integer, type SQLiteTable, text } from "drizzle-orm/sqlite-core";
import type { WorkCtx } from "../context.ts";
import { all, bind, type CompiledStatement, type Params, param, statement } from "../db/statement.ts";
import { toTimestamp } from "../values/timestamp.ts";
import type { Answer } from "./channel.ts";

/** How long no other process can claim the delivery; longer than any attempt. */
export const leaseMs = 60_000;

export const deliveryColumns = {
  attempts: integer("attempts").notNull().default(0),
  nextAttemptAt: text("next_attempt_at").notNull(),
  leasedUntil: text("leased_until"),
  /** HTTP status of the last answer, null where there was none; and its error in words. */
  lastStatus: integer("last_status"),
  lastError: text("last_error"),
  createdAt: text("created_at").notNull(),
  finishedAt: text("finished_at"),
};

/** SQL of the id of a delivery that a statement creates: the parameter `deliveryId` with the number of the row at its end. */
export const deliveryId = sql`substr(${param("deliveryId")}, 1, 24) || printf('%06d', row_number() over ())`;

export interface Claim {
  id: string;
  attempts: number;
  /** The end of the lease; it also distinguishes this claim from a later one. */
  lease: string;
}

export const isDue = sql`status = 'waiting' and next_attempt_at <= ${param("now")}`;

/**
 * The statement that claims the deliveries of `which`, a query of ids, unless their store is suspended. They are found and
 * leased in one statement, so that no two processes can claim the same.
 */
export function claimStatement(table: SQLiteTable, which: SQL) {
  const isActive = sql`exists(select 1 from tenants t where t.id = tenant_id and t.status = 'active')`;
  return statement((q) =>
    q
      .update(table)
      .set({ attempts: sql`attempts + 1`, nextAttemptAt: param("lease"), leasedUntil: param("lease") })
      .where(sql`id in (${which}) and ${isActive}`)
      .returning({ id: sql<string>`id`, attempts: sql<number>`attempts` }),
  );
}

/** Claims deliveries and reads their tasks. @param statements read: selects those whose id is in `ids`, a JSON array. */
export async function claimTasks<Task extends { id: string }>(
  ctx: WorkCtx,
  statements: { claim: ReturnType<typeof claimStatement>; read: CompiledStatement<Task> },
  params: Params,
): Promise<(Task & Claim)[]> {
  const at = ctx.now();
  const lease = toTimestamp(at + leaseMs);
  const claims = await all(ctx.db, statements.claim, { ...params, now: toTimestamp(at), lease });
  if (claims.length === 0) return [];
  const attempts = new Map(claims.map((claim) => [claim.id, claim.attempts]));
  const tasks = await all(ctx.db, statements.read, { ids: JSON.stringify([...attempts.keys()]) });
  return tasks.map((task) => ({ ...task, attempts: attempts.get(task.id) as number, lease }));
}

export function claimStatements(
  table: SQLiteTable,
  delivered: "delivered" | "sent",
  { onDelivered = sql``, onEnded = sql`` }: { onDelivered?: SQL; onEnded?: SQL } = {},
) {
  // The delivery of a claim, unless another process has claimed or ended it since.
  const isClaimed = sql`id = ${param("id")} and status = 'waiting' and leased_until = ${param("lease")}`;
  const result = sql`last_status = ${param("status")}, last_error = ${param("error")}, leased_until = null`;
  // Not bound to the lease: a message that arrived is not sent again, even if another process has claimed or ended it since.
  const markDelivered = statement(sql`
    update ${table} set status = ${sql.raw(`'${delivered}'`)}, ${result}, finished_at = ${param("now")} ${onDelivered}
    where id = ${param("id")} and status in ('waiting', 'failed', 'expired')`);
  const markEnded = statement(sql`
    update ${table} set status = ${param("outcome")}, ${result}, finished_at = ${param("now")} ${onEnded}
    where ${isClaimed}`);
  const postpone = statement(sql`
    update ${table} set next_attempt_at = ${param("next")}, ${result} where ${isClaimed}`);
  const release = statement(sql`
    update ${table} set next_attempt_at = ${param("next")}, leased_until = null, attempts = attempts - 1
    where ${isClaimed}`);
  type Reason = Pick<Answer, "status" | "error">;
  return {
    delivered: ({ now }: WorkCtx, { id }: Claim, { status }: Reason) =>
      bind(markDelivered, { id, status, error: null, now: toTimestamp(now()) }),
    ended: (
      { now }: WorkCtx,
      { id, lease }: Claim,
      { outcome, status, error }: Reason & { outcome: "failed" | "dropped" | "expired" },
    ) => bind(markEnded, { id, lease, outcome, status, error, now: toTimestamp(now()) }),
    /** @param next epoch milliseconds. */
    postponed: ({ id, lease }: Claim, next: number, { status, error }: Reason) =>
      bind(postpone, { id, lease, next: toTimestamp(next), status, error }),
    /** The attempt does not count. @param next epoch milliseconds. */
    released: ({ id, lease }: Claim, next: number) => bind(release, { id, lease, next: toTimestamp(next) }),
  };
}
