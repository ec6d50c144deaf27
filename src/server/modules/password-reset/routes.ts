import { Type } from "@sinclair/typebox";
import { app, defineRoute, noAuth, replyAfter, replyRecord, staff } from "../../http/route.ts";
import { Accepted, input, languageForm, output, text } from "../../values/schema.ts";
import { code } from "../sign-up/routes.ts";
import { newPassword, User, UserInput } from "../users/model.ts";
import { inviteUser, requestReset, resetPassword } from "./service.ts";

const email = text(320);

const ForgotPassword = input("ForgotPassword", {
  email,
  language: Type.Optional(
    text(35, "Language of the mail, as a BCP 47 tag. Default: the user's language.", { form: languageForm }),
  ),
});

const ResetPassword = input("ResetPassword", {
  email,
  code,
  password: newPassword,
});

const ResetPasswordReply = output("ResetPasswordReply", { password_changed: Type.Literal(true) });

const Invitation = Type.Pick(UserInput, ["email", "name", "phone", "role", "metadata"], {
  $id: "Invitation",
  additionalProperties: false,
});

const reset = { tag: "Authentication", access: [noAuth] } as const;

export const passwordResetRoutes = [
  defineRoute("POST", "/auth/password/forgot/", "forgotPassword", {
    ...reset,
    summary: "Request a password reset code by mail",
    body: ForgotPassword,
    // The reply does not reveal whether a user has the email (specification, section 4).
    reply: { data: Accepted },
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
  defineRoute("POST", "/users/invite/", "inviteUser", {
    tag: "Users",
    summary: "Create a user, or find one without a password, and mail a code to set the first password",
    access: [app("users:write"), staff],
    body: Invitation,
    reply: { status: 200, data: User },
    errors: ["wrongState", "tooManyRequests"],
    handle: async ({ ctx, body, lang }) => replyRecord(await inviteUser(ctx, { ...body, lang })),
  }),
];
