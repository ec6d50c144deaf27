import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { closed, input, output, timestamp } from "../../values/schema.ts";
import { resourceTypes } from "../resources/registry.ts";
import { newVisitor, visitorPart } from "../visitors/actor.ts";

export type ReactionKind = "like" | "bookmark";

const type = Type.String({ maxLength: 40, description: `One of: ${resourceTypes.join(", ")}.` });
const id = Type.String({ maxLength: 100, description: "Id of the resource, such as `prod_…`." });

export const ReactionInput = input("ReactionInput", { resource_type: type, resource_id: id, ...visitorPart });

export const ReactionQuery = closed({ resource_type: type, resource_id: id, ...visitorPart });

const { fields: _, ...pageParts } = listParts;

/** Query of a GET: one resource, or the caller's own list. */
export const ReactionsQuery = closed({
  resource_type: Type.Optional(type),
  resource_id: Type.Optional(
    Type.String({ ...id, description: "One resource. Default: all likes or bookmarks of the caller, newest first." }),
  ),
  ...visitorPart,
  ...pageParts,
});
export type ReactionsQuery = Static<typeof ReactionsQuery>;

const state = {
  active: Type.Boolean({ description: "Whether the caller likes the resource or has bookmarked it." }),
  count: Type.Integer({ minimum: 0, description: "Number of users and visitors who like or have bookmarked it." }),
};

/** The caller's reaction to a resource, and its count. */
export const ReactionState = output("ReactionState", state);
export type ReactionState = Static<typeof ReactionState>;

export const AddedReaction = output("AddedReaction", { ...state, visitor: newVisitor });
export type AddedReaction = Static<typeof AddedReaction>;

export const Reaction = output("Reaction", { resource_type: type, resource_id: id, created_at: timestamp });
