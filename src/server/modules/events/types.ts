import { invalidField } from "../../errors.ts";

/** All events of the change feed; the part before the dot is the kind of record. */
export const eventTypes = [
  "product.created",
  "product.updated",
  "product.deleted",
  "stock.changed",
  "category.created",
  "category.updated",
  "category.deleted",
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

const kindOf = (type: string) => `${type.split(".")[0]}.*`;
export const allPatterns: readonly string[] = ["*", ...new Set(eventTypes.map(kindOf)), ...eventTypes];

/** Parses patterns of event types (`*`, `order.*`, `order.paid`) and removes duplicates. Errors: validationFailed. */
export function parsePatterns(field: string, given: readonly string[]): string[] {
  const patterns = [...new Set(given.map((pattern) => pattern.trim()))];
  if (patterns.length === 0 || patterns.some((pattern) => !allPatterns.includes(pattern))) {
    throw invalidField(field, `must be one or more of ${allPatterns.join(", ")}`);
  }
  return patterns;
}

export function matchTypes(patterns: readonly string[]): string[] {
  return eventTypes.filter((type) => ["*", type, kindOf(type)].some((pattern) => patterns.includes(pattern)));
}
