import { Type } from "@sinclair/typebox";

const email = Type.String({ minLength: 1, maxLength: 320 });

export const ForgotPassword = Type.Object(
  {
    email,
    language: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 35,
        description: "Language of the mail, as a BCP 47 tag; the user's own without it.",
      }),
    ),
  },
  { $id: "ForgotPassword", additionalProperties: false },
);

/** The same whether or not the address belongs to anyone (specification, section 4). */
export const ForgotPasswordReply = Type.Object({ accepted: Type.Literal(true) }, { $id: "ForgotPasswordReply" });

export const ResetPassword = Type.Object(
  {
    email,
    code: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The six digits from the mail, as a string, since they may begin with zeros.",
      examples: ["012345"],
    }),
    password: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: "At least 16 characters with lowercase, uppercase, digit and special character.",
    }),
  },
  { $id: "ResetPassword", additionalProperties: false },
);

export const ResetPasswordReply = Type.Object({ password_changed: Type.Literal(true) }, { $id: "ResetPasswordReply" });
