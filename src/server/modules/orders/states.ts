import { sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

export const orderStatuses = ["pending", "paid", "completed", "cancelled", "expired"] as const;

/** Computed from payments and refunds; `payment_processing` while a provider has not decided. */
export const paymentStatuses = [
  "unpaid",
  "partially_paid",
  "paid",
  "partially_refunded",
  "refunded",
  "payment_processing",
] as const;

/** Computed from the pieces that were sent. */
export const fulfillmentStatuses = ["unfulfilled", "partially_fulfilled", "fulfilled"] as const;

/** The decisions of staff about an order. */
export const attentionKinds = [
  "late_payment",
  "partial_payment",
  "overpaid",
  "amount_mismatch",
  "refund_failed",
  "refund_unassigned",
  "dispute",
  "withdrawal",
] as const;

/** SQL for a check of a column. For three values or more, SQLite would build a temporary index at each check of `in`. */
export const isOneOf = (column: SQLiteColumn, values: readonly string[]) =>
  sql.join(
    values.map((value) => sql`${column} = ${sql.raw(`'${value}'`)}`),
    sql` or `,
  );
