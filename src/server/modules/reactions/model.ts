import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { timestamp } from "../../values/schema.ts";
import { resourceTypes } from "../resources/registry.ts";
import { newVisitor, visitorPart } from "../visitors/model.ts";

/** What is done to a resource; also the name of the column that counts it. */
export type ReactionKind = "like" | "bookmark";

const type = Type.String({ maxLength: 40, description: `One of: ${resourceTypes.join(", ")}.` });
const id = Type.String({ maxLength: 100, description: "Such as `prod_…`." });

/** What is liked or bookmarked. */
export const ReactionInput = Type.Object(
  { resource_type: type, resource_id: id, ...visitorPart },
  { $id: "ReactionInput", additionalProperties: false },
);

/** The token of a visitor, which the query of a POST or DELETE may name as well. */
export const VisitorQuery = Type.Object(visitorPart, { additionalProperties: false });
export const VisitorInput = Type.Object(visitorPart, { $id: "VisitorInput", additionalProperties: false });

/** What is liked or bookmarked no more. */
export const ReactionQuery = Type.Object(
  { resource_type: type, resource_id: id, ...visitorPart },
  { additionalProperties: false },
);

const { fields: _, ...pageParts } = listParts;

/** One resource, or the list of all that the caller has. */
export const ReactionsQuery = Type.Object(
  {
    resource_type: Type.Optional(type),
    resource_id: Type.Optional(
      Type.String({ ...id, description: "One resource. Without it the caller's own list is answered, newest first." }),
    ),
    ...visitorPart,
    ...pageParts,
  },
  { additionalProperties: false },
);
export type ReactionsQuery = Static<typeof ReactionsQuery>;

const state = {
  active: Type.Boolean({ description: "Whether the caller has it." }),
  count: Type.Integer({ minimum: 0, description: "How many have it." }),
};

/** How a resource stands for the caller. */
export const ReactionState = Type.Object(state, { $id: "ReactionState" });
export type ReactionState = Static<typeof ReactionState>;

/** The same after it was liked or bookmarked. */
export const AddedReaction = Type.Object({ ...state, visitor: newVisitor }, { $id: "AddedReaction" });
export type AddedReaction = Static<typeof AddedReaction>;

/** One of the caller's likes or bookmarks. */
export const Reaction = Type.Object(
  { resource_type: type, resource_id: id, created_at: timestamp },
  { $id: "Reaction" },
);
