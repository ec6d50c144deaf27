import { Type } from "@sinclair/typebox";
import { app, defineRoute } from "../../http/route.ts";
import { Event, EventListQuery } from "./model.ts";
import { followEvents, listEvents } from "./service.ts";

export const eventRoutes = [
  defineRoute("GET", "/events/", "listEvents", {
    tag: "Events",
    summary: "Read the change feed, oldest first",
    access: [app("events:read")],
    query: EventListQuery,
    reply: { data: Type.Array(Event), page: true },
    errors: ["tooManyRequests"],
    stream: ({ ctx, query }) => followEvents(ctx, query),
    handle: ({ ctx, query }) => listEvents(ctx, query),
  }),
];
