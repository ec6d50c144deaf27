import { unsigned } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ForgotPassword, ForgotPasswordReply, ResetPassword, ResetPasswordReply } from "./model.ts";
import { requestReset, resetPassword } from "./service.ts";

const reset = { tag: "Authentication", access: [unsigned] } as const;

export const passwordResetRoutes = [
  defineRoute("POST", "/auth/password/forgot/", "forgotPassword", {
    ...reset,
    summary: "Request a password reset code by mail",
    body: ForgotPassword,
    reply: { data: ForgotPasswordReply },
    handle: async ({ ctx, body, lang }) => {
      await requestReset(ctx, { email: body.email, language: body.language ?? lang });
      return reply({ accepted: true });
    },
  }),
  defineRoute("POST", "/auth/password/reset/", "resetPassword", {
    ...reset,
    summary: "Set a new password with a reset code",
    body: ResetPassword,
    reply: { data: ResetPasswordReply },
    errors: ["tooManyAttempts", "resetCodeInvalid", "weakPassword"],
    handle: async ({ ctx, body }) => {
      await resetPassword(ctx, body);
      return reply({ password_changed: true });
    },
  }),
];
