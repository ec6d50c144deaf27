import { Type } from "@sinclair/typebox";
import { anyone } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import {
  AddedReaction,
  Reaction,
  ReactionInput,
  type ReactionKind,
  ReactionQuery,
  ReactionState,
  ReactionsQuery,
  VisitorInput,
  VisitorQuery,
} from "./model.ts";
import { getReaction, listReactions, react, unreact } from "./service.ts";

/** Names and summaries of the routes of one kind. */
interface Naming {
  kind: ReactionKind;
  path: `/${string}/`;
  tag: string;
  ids: { get: string; add: string; remove: string };
  summaries: { get: string; add: string; remove: string };
}

function routesOf({ kind, path, tag, ids, summaries }: Naming): Route[] {
  const access = [anyone] as const;
  return [
    defineRoute("GET", path, ids.get, {
      tag,
      summary: summaries.get,
      access,
      query: ReactionsQuery,
      reply: { data: Type.Array(Reaction), page: true, single: ReactionState },
      errors: ["notFound"],
      handle: async ({ ctx, query, subject }) => {
        const { resource_id } = query;
        if (resource_id === undefined) return listReactions(ctx, kind, query, subject);
        return reply(await getReaction(ctx, kind, { ...query, resource_id, subject }));
      },
    }),
    defineRoute("POST", path, ids.add, {
      tag,
      summary: summaries.add,
      access,
      query: VisitorQuery,
      body: ReactionInput,
      secret: true,
      reply: { data: AddedReaction },
      errors: ["tooManyRequests", "notFound", "wrongState"],
      handle: async ({ ctx, query, body, subject }) => reply(await react(ctx, kind, { ...body, ...query, subject })),
    }),
    defineRoute("DELETE", path, ids.remove, {
      tag,
      summary: summaries.remove,
      access,
      query: ReactionQuery,
      body: VisitorInput,
      reply: { data: ReactionState },
      errors: ["tooManyRequests", "notFound"],
      handle: async ({ ctx, query, body, subject }) => reply(await unreact(ctx, kind, { ...body, ...query, subject })),
    }),
  ];
}

/** The endpoints of likes and bookmarks. */
export const reactionRoutes = [
  ...routesOf({
    kind: "like",
    path: "/likes/",
    tag: "Likes",
    ids: { get: "getLikes", add: "addLike", remove: "removeLike" },
    summaries: {
      get: "Get the likes of a resource, or list the caller's own",
      add: "Like a resource",
      remove: "Remove a like",
    },
  }),
  ...routesOf({
    kind: "bookmark",
    path: "/bookmarks/",
    tag: "Bookmarks",
    ids: { get: "getBookmarks", add: "addBookmark", remove: "removeBookmark" },
    summaries: {
      get: "Get the bookmarks of a resource, or list the caller's own",
      add: "Bookmark a resource",
      remove: "Remove a bookmark",
    },
  }),
];
