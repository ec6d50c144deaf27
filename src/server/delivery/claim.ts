import { sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { param, statement } from "../db/statement.ts";
import { toTimestamp } from "../values/timestamp.ts";

/** No other process claims a delivery for so long, which is longer than an attempt can take. */
export const leaseMs = 60_000;

/** A delivery that one process has leased. */
export interface Claim {
  id: string;
  attempts: number;
  /** The end of the lease; it also tells this claim from a later one. */
  lease: string;
}

/** Deliveries to claim at `now`. */
export const isDue = sql`status = 'waiting' and next_attempt_at <= ${param("now")}`;
/** The delivery of a claim, unless another process has claimed or ended it since. */
export const isClaimed = sql`id = ${param("id")} and status = 'waiting' and leased_until = ${param("lease")}`;

/**
 * The statements that end a claim on a table of deliveries.
 * @param delivered the status of a delivery that arrived.
 */
export function claimStatements(table: SQLiteTable, delivered: "delivered" | "sent") {
  return {
    // Not bound to the lease: a message that arrived is not sent again, whoever has claimed or ended it since.
    markDelivered: statement(sql`
      update ${table} set status = ${sql.raw(`'${delivered}'`)}, last_status = ${param("status")}, last_error = null,
        leased_until = null, finished_at = ${param("now")}
      where id = ${param("id")} and status in ('waiting', 'failed', 'expired')`),
    end: statement(sql`
      update ${table} set status = ${param("outcome")}, last_status = ${param("status")}, last_error = ${param("error")},
        leased_until = null, finished_at = ${param("now")}
      where ${isClaimed}`),
    // By id alone; with a status the planner would read all waiting deliveries.
    release: statement(sql`
      update ${table} set next_attempt_at = ${param("next")} ->> id, leased_until = null, attempts = attempts - 1
      where id in (select key from json_each(${param("next")}))
        and leased_until = ${param("leases")} ->> id`),
  };
}

/** The parameters of `release`. @param claims each with the time of its next attempt, in epoch milliseconds. */
export function releaseParams(claims: { task: Claim; next: number }[]) {
  return {
    next: JSON.stringify(Object.fromEntries(claims.map(({ task, next }) => [task.id, toTimestamp(next)]))),
    leases: JSON.stringify(Object.fromEntries(claims.map(({ task }) => [task.id, task.lease]))),
  };
}
