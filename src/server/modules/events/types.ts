/** Everything that the change feed tells of; the part before the dot is the kind of record. */
export const eventTypes = [
  "product.created",
  "product.updated",
  "product.deleted",
  "stock.changed",
  "order.created",
  "order.paid",
  "order.fulfilled",
  "order.cancelled",
  "order.expired",
  "order.refunded",
  "user.created",
  "user.updated",
  "user.deleted",
] as const;

export type EventType = (typeof eventTypes)[number];
