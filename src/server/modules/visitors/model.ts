import { Type } from "@sinclair/typebox";

/** The visitor of a call without a user; an invalid token is ignored. */
export const visitorPart = {
  visitor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        "`vis_…`, from the reply to the visitor's first write. Keep it like a token: it identifies the visitor.",
    }),
  ),
};

/** The token of a new visitor. */
export const newVisitor = Type.Optional(
  Type.String({ description: "Token of a new visitor, returned only once. Keep it and send it with later calls." }),
);
