import { type Static, Type } from "@sinclair/typebox";
import { fieldsPart, listParts } from "../../pagination/list-query.ts";
import { closed, input, namesForm, oneOf, textUpTo, timestamp } from "../../values/schema.ts";
import { allPatterns, eventTypes } from "./types.ts";

export const Event = input("Event", {
  id: Type.String({ description: "Unique in the store. A repeated webhook delivery has the same id." }),
  type: oneOf(eventTypes),
  subject: Type.String({ description: "Id of the record that changed." }),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: "A summary of the change, without personal data.",
  }),
  created_at: timestamp,
});

export const EventListQuery = closed({
  after: Type.Optional(
    textUpTo(
      100,
      "Id of the last event that you have received: `page.next_cursor` of the previous call. Default: from the oldest event on.",
    ),
  ),
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
