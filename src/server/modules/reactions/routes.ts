import { Type } from "@sinclair/typebox";
import { invalidField } from "../../errors.ts";
import { defineRoute, publicAccess, type Route, reply } from "../../http/route.ts";
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

function routesOf(kind: ReactionKind, name: "Like" | "Bookmark"): Route[] {
  const path = `/${kind}s/` as const;
  const open = { tag: `${name}s`, access: [publicAccess] } as const;
  return [
    defineRoute("GET", path, `get${open.tag}`, {
      ...open,
      summary: `Get the ${kind}s of resources, or list the caller's own`,
      query: ReactionsQuery,
      reply: { data: Type.Array(Reaction), page: true, single: [ReactionState, ReactionStates] },
      errors: ["notFound"],
      handle: async ({ ctx, query, subject }) => {
        const { resource_id } = query;
        if (resource_id === undefined) return listReactions(ctx, kind, query, subject);
        if (query.cursor !== undefined) throw invalidField("cursor", "is not accepted with resource_id");
        return reply(await getReactions(ctx, kind, { ...query, resource_id, subject }));
      },
    }),
    defineRoute("POST", path, `add${name}`, {
      ...open,
      summary: `${name} a resource`,
      query: VisitorQuery,
      body: ReactionInput,
      secret: true,
      reply: { data: AddedReaction },
      errors: ["tooManyRequests", "notFound", "wrongState"],
      handle: async ({ ctx, query, body, subject }) => reply(await react(ctx, kind, { ...body, ...query, subject })),
    }),
    defineRoute("DELETE", path, `remove${name}`, {
      ...open,
      summary: `Remove a ${kind}`,
      query: ReactionQuery,
      body: VisitorInput,
      reply: { data: ReactionState },
      errors: ["tooManyRequests", "notFound"],
      handle: async ({ ctx, query, body, subject }) => reply(await unreact(ctx, kind, { ...body, ...query, subject })),
    }),
  ];
}

export const reactionRoutes = [...routesOf("like", "Like"), ...routesOf("bookmark", "Bookmark")];
