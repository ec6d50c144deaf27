export const orderStatuses = ["pending", "paid", "completed", "cancelled", "expired"] as const;

/** Computed from payments and refunds. `payment_processing`: the provider has yet to decide about a payment. */
export const paymentStatuses = [
  "unpaid",
  "partially_paid",
  "paid",
  "partially_refunded",
  "refunded",
  "payment_processing",
] as const;

/** Computed from the numbers of pieces that were sent. */
export const fulfillmentStatuses = ["unfulfilled", "partially_fulfilled", "fulfilled"] as const;

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
