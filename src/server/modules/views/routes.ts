import { Type } from "@sinclair/typebox";
import { defineRoute, publicAccess, reply } from "../../http/route.ts";
import { closed, input, output, whole } from "../../values/schema.ts";
import { namedList, resourceIds, resourceParts } from "../resources/registry.ts";
import { VisitorQuery, visitorPart } from "../visitors/actor.ts";
import { getManyViews, getViews, recordView, usualDays } from "./service.ts";

const ViewInput = input("ViewInput", { ...resourceParts, ...visitorPart });

const ViewsQuery = closed({
  resource_type: resourceParts.resource_type,
  resource_id: resourceIds,
  ...visitorPart,
  days: Type.Optional(whole(1, 366, "For one resource: the number of days in the reply.", { default: usualDays })),
});

const state = {
  active: Type.Boolean({ description: "Whether the caller's view counts today; false for bots." }),
  count: Type.Integer({ minimum: 0, description: "Number of all views. New views are added within a second." }),
};

const ViewState = output("ViewState", state);

const Views = output("Views", {
  ...state,
  days: Type.Array(
    output("ViewsOfDay", {
      day: Type.String({ format: "date", description: "Day in UTC." }),
      count: Type.Integer({ minimum: 0 }),
    }),
    { description: "Views by day, oldest first. Days without views have the count 0." },
  ),
});

const ViewStates = namedList("ResourceViewState", state);

const open = { tag: "Views", access: [publicAccess] } as const;

export const viewRoutes = [
  defineRoute("GET", "/views/", "getViews", {
    ...open,
    summary: "Get the views of resources, of one also by day",
    query: ViewsQuery,
    reply: { data: Views, single: [ViewStates] },
    errors: ["notFound"],
    handle: async ({ ctx, query: { resource_id: ids, days, ...query }, subject }) => {
      const [resource_id = "", second] = ids;
      if (second !== undefined) return reply(await getManyViews(ctx, { ...query, ids, subject }));
      return reply(await getViews(ctx, { ...query, resource_id, days, subject }));
    },
  }),
  defineRoute("POST", "/views/", "recordView", {
    ...open,
    summary: "Count a view, once per viewer and day",
    query: VisitorQuery,
    body: ViewInput,
    plainText: true,
    reply: { data: ViewState },
    errors: ["tooManyRequests", "notFound"],
    // A repeated view counts once anyway, so `Idempotency-Key` is ignored.
    secret: true,
    handle: async ({ ctx, query, body, subject }) => reply(await recordView(ctx, { ...body, ...query, subject })),
  }),
];
