import { type Static, Type } from "@sinclair/typebox";
import { invalidField } from "../../errors.ts";
import { fieldsPart, listParts, optionalTime } from "../../pagination/list-query.ts";
import { closed, input, namesForm, oneOf, textUpTo, timestamp } from "../../values/schema.ts";

export const eventTypes = [
  "product.created",
  "product.updated",
  "product.deleted",
  "stock.changed",
  "category.created",
  "category.updated",
  "category.deleted",
  "order.created",
  "order.updated",
  "order.paid",
  "order.shipped",
  "order.fulfilled",
  "order.cancelled",
  "order.expired",
  "order.refunded",
  "order.disputed",
  "user.created",
  "user.updated",
  "user.deleted",
] as const;

export type EventType = (typeof eventTypes)[number];

const kindOf = (type: string) => `${type.split(".")[0]}.*`;
const allPatterns: readonly string[] = ["*", ...new Set(eventTypes.map(kindOf)), ...eventTypes];

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

export const Event = input("Event", {
  id: Type.String({ description: "Unique in the store. A repeated webhook delivery has the same id." }),
  type: oneOf(eventTypes),
  subject: Type.String({ description: "Id of the record that changed." }),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: "A summary of the change, without personal data.",
  }),
  created_at: timestamp,
});

export type Event = Static<typeof Event>;

export const EventListQuery = closed({
  after: Type.Optional(
    textUpTo(
      100,
      "Id of the last event that you have received: `page.next_cursor` of the previous call. Default: from the oldest event on; for a stream, new events.",
    ),
  ),
  since: Type.Optional({ ...optionalTime, description: "Without `after`: only events since this time." }),
  types: Type.Optional(
    textUpTo(1000, "Comma-separated event types or groups (`order.*`). Default: all.", {
      examples: ["order.*,product.created"],
      form: namesForm(allPatterns.map((name) => name.replace(/[.*]/g, "\\$&"))),
    }),
  ),
  limit: listParts.limit,
  ...fieldsPart,
});
export type EventListQuery = Static<typeof EventListQuery>;
