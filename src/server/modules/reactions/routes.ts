import { Type } from "@sinclair/typebox";
import { invalidField } from "../../errors.ts";
import { defineRoute, publicAccess, type Route, reply } from "../../http/route.ts";
import { listParts } from "../../pagination/list-query.ts";
import { closed, input, output, timestamp } from "../../values/schema.ts";
import { namedList, resourceIds, resourceParts } from "../resources/registry.ts";
import { newVisitor, VisitorInput, VisitorQuery, visitorPart } from "../visitors/actor.ts";
import { getReactions, listReactions, type ReactionKind, react, unreact } from "./service.ts";

const ReactionInput = input("ReactionInput", { ...resourceParts, ...visitorPart });

const ReactionQuery = closed({ ...resourceParts, ...visitorPart });

const { fields: _, ...pageParts } = listParts;

const ReactionsQuery = closed({
  resource_type: Type.Optional(resourceParts.resource_type),
  resource_id: Type.Optional(
    Type.Array(resourceParts.resource_id, {
      ...resourceIds,
      description: `${resourceIds.description} Default: all likes or bookmarks of the caller, newest first.`,
    }),
  ),
  ...visitorPart,
  ...pageParts,
});

const state = {
  active: Type.Boolean({ description: "Whether the caller likes the resource or has bookmarked it." }),
  count: Type.Integer({ minimum: 0, description: "Number of users and visitors who like or have bookmarked it." }),
};

const ReactionState = output("ReactionState", state);

const ReactionStates = namedList("ResourceReactionState", state);

const AddedReaction = output("AddedReaction", { ...state, visitor: newVisitor });

const Reaction = output("Reaction", { ...resourceParts, created_at: timestamp });

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
