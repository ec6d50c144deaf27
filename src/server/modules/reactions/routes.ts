import { Type } from "@sinclair/typebox";
import { anyone } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { VisitorInput, VisitorQuery } from "../visitors/actor.ts";
import {
  AddedReaction,
  Reaction,
  ReactionInput,
  type ReactionKind,
  ReactionQuery,
  ReactionState,
  ReactionStates,
  ReactionsQuery,
} from "./model.ts";
import { getReactions, listReactions, react, unreact } from "./service.ts";

/** The routes of one kind. `name` is the kind in operation ids and summaries. */
function routesOf(kind: ReactionKind, name: "Like" | "Bookmark"): Route[] {
  const path = `/${kind}s/` as const;
  const tag = `${name}s`;
  const access = [anyone] as const;
  return [
    defineRoute("GET", path, `get${tag}`, {
      tag,
      summary: `Get the ${kind}s of resources, or list the caller's own`,
      access,
      query: ReactionsQuery,
      reply: { data: Type.Array(Reaction), page: true, single: Type.Union([ReactionState, ReactionStates]) },
      errors: ["notFound"],
      handle: async ({ ctx, query, subject }) => {
        const { resource_id } = query;
        if (resource_id === undefined) return listReactions(ctx, kind, query, subject);
        return reply(await getReactions(ctx, kind, { ...query, resource_id, subject }));
      },
    }),
    defineRoute("POST", path, `add${name}`, {
      tag,
      summary: `${name} a resource`,
      access,
      query: VisitorQuery,
      body: ReactionInput,
      secret: true,
      reply: { data: AddedReaction },
      errors: ["tooManyRequests", "notFound", "wrongState"],
      handle: async ({ ctx, query, body, subject }) => reply(await react(ctx, kind, { ...body, ...query, subject })),
    }),
    defineRoute("DELETE", path, `remove${name}`, {
      tag,
      summary: `Remove a ${kind}`,
      access,
      query: ReactionQuery,
      body: VisitorInput,
      reply: { data: ReactionState },
      errors: ["tooManyRequests", "notFound"],
      handle: async ({ ctx, query, body, subject }) => reply(await unreact(ctx, kind, { ...body, ...query, subject })),
    }),
  ];
}

export const reactionRoutes = [...routesOf("like", "Like"), ...routesOf("bookmark", "Bookmark")];
