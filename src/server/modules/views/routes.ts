import { defineRoute, publicAccess, reply } from "../../http/route.ts";
import { VisitorQuery } from "../visitors/actor.ts";
import { ViewInput, ViewState, ViewStates, Views, ViewsQuery } from "./model.ts";
import { getManyViews, getViews, recordView } from "./service.ts";

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
