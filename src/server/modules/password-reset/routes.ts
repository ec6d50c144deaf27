import { noAuth } from "../../http/access.ts";
import { replyAfter } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ForgotPassword, ForgotPasswordReply, ResetPassword, ResetPasswordReply } from "./model.ts";
import { requestReset, resetPassword } from "./service.ts";

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
