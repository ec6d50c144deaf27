import { type Static, Type } from "@sinclair/typebox";
import { fieldsPart, listParts } from "../../pagination/list-query.ts";
import { timestamp } from "../../values/schema.ts";
import { eventTypes } from "./types.ts";

/** Something that has happened in a store. */
export const Event = Type.Object(
  {
    id: Type.String({ description: "Whoever acts on events keeps it: what is told twice has the same id." }),
    type: Type.String({ examples: ["order.paid"], description: `One of ${eventTypes.join(", ")}.` }),
    subject: Type.String({ description: "Id of the record that changed." }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: "What a reader needs to decide whether to look at the record; nothing personal.",
    }),
    created_at: timestamp,
  },
  { $id: "Event", additionalProperties: false },
);

export const EventListQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          "Id of the last event that is known: `page.next_cursor` of the call before. Without it, from the oldest.",
      }),
    ),
    types: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: "Types or kinds of events, joined by commas; the others are left out.",
        examples: ["order.*,product.created"],
      }),
    ),
    limit: listParts.limit,
    ...fieldsPart,
  },
  { additionalProperties: false },
);
export type EventListQuery = Static<typeof EventListQuery>;
