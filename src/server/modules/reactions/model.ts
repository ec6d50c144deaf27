import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { closed, input, output, timestamp } from "../../values/schema.ts";
import { namedList, resourceIds, resourceParts } from "../resources/registry.ts";
import { newVisitor, visitorPart } from "../visitors/actor.ts";

export type ReactionKind = "like" | "bookmark";

export const ReactionInput = input("ReactionInput", { ...resourceParts, ...visitorPart });

export const ReactionQuery = closed({ ...resourceParts, ...visitorPart });

const { fields: _, ...pageParts } = listParts;

export const ReactionsQuery = closed({
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
export type ReactionsQuery = Static<typeof ReactionsQuery>;

const state = {
  active: Type.Boolean({ description: "Whether the caller likes the resource or has bookmarked it." }),
  count: Type.Integer({ minimum: 0, description: "Number of users and visitors who like or have bookmarked it." }),
};

export const ReactionState = output("ReactionState", state);
export type ReactionState = Static<typeof ReactionState>;

export const ReactionStates = namedList("ResourceReactionState", state);

export const AddedReaction = output("AddedReaction", { ...state, visitor: newVisitor });
export type AddedReaction = Static<typeof AddedReaction>;

export const Reaction = output("Reaction", { ...resourceParts, created_at: timestamp });
