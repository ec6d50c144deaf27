import { Type } from "@sinclair/typebox";
import { defineRoute, noAuth, replyAfter } from "../../http/route.ts";
import { input, languageForm, output, text } from "../../values/schema.ts";
import { code } from "../sign-up/routes.ts";
import { newPassword } from "../users/model.ts";
import { requestReset, resetPassword } from "./service.ts";

const email = text(320);

const ForgotPassword = input("ForgotPassword", {
  email,
  language: Type.Optional(
    text(35, "Language of the mail, as a BCP 47 tag. Default: the user's language.", { form: languageForm }),
  ),
});

/** The reply does not depend on whether a user has the address (specification, section 4). */
const ForgotPasswordReply = output("ForgotPasswordReply", { accepted: Type.Literal(true) });

const ResetPassword = input("ResetPassword", {
  email,
  code,
  password: newPassword,
});

const ResetPasswordReply = output("ResetPasswordReply", { password_changed: Type.Literal(true) });

const reset = { tag: "Authentication", access: [noAuth] } as const;

export const passwordResetRoutes = [
  defineRoute("POST", "/auth/password/forgot/", "forgotPassword", {
    ...reset,
    summary: "Request a password reset code by mail",
    body: ForgotPassword,
    reply: { data: ForgotPasswordReply },
    handle: ({ ctx, body, lang }) =>
      replyAfter(requestReset(ctx, { email: body.email, language: body.language ?? lang }), { accepted: true }),
  }),
  defineRoute("POST", "/auth/password/reset/", "resetPassword", {
    ...reset,
    summary: "Set a new password with a reset code",
    body: ResetPassword,
    reply: { data: ResetPasswordReply },
    errors: ["tooManyAttempts", "resetCodeInvalid", "weakPassword"],
    handle: ({ ctx, body }) => replyAfter(resetPassword(ctx, body), { password_changed: true }),
  }),
];
