import { Type } from "@sinclair/typebox";

/** Who acts where no user is signed in; a token that is not valid counts as none. */
export const visitorPart = {
  visitor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: "`vis_…`, as the first write answered it. Kept like a token: who has it is that visitor.",
    }),
  ),
};

/** The token of a visitor who was made for a call. */
export const newVisitor = Type.Optional(
  Type.String({ description: "Of a new visitor, and shown here only: to be kept, and sent with later calls." }),
);
