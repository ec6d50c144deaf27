import { token } from "../../http/access.ts";
import { reply, replyRecord } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { Accepted, EmailCode } from "../sign-up/model.ts";
import { ownIdOf } from "../users/guards.ts";
import { ProfilePatch, User } from "../users/model.ts";
import { getUser } from "../users/service.ts";
import { resendEmailCode, verifyOwnEmail } from "./email.ts";
import { updateOwnProfile } from "./service.ts";

const tag = "Users";

export const profileRoutes = [
  defineRoute("GET", "/users/me/", "getOwnProfile", {
    tag,
    summary: "Get the signed-in user",
    access: [token],
    reply: { data: User },
    errors: ["notFound"],
    handle: async ({ ctx }) => replyRecord(await getUser(ctx, ownIdOf(ctx))),
  }),
  defineRoute("PATCH", "/users/me/", "patchOwnProfile", {
    tag,
    summary: "Update the signed-in user",
    access: [token],
    body: ProfilePatch,
    reply: { data: User },
    errors: ["tooManyRequests", "invalidLogin", "tooManyAttempts"],
    conditional: true,
    handle: async ({ ctx, body, lang, ifMatch }) =>
      replyRecord(await updateOwnProfile(ctx, { ...body, lang }, ifMatch)),
  }),
  defineRoute("POST", "/users/me/email/verify/", "verifyOwnEmail", {
    tag,
    summary: "Verify the signed-in user's email with the mailed code",
    access: [token],
    body: EmailCode,
    secret: true,
    reply: { data: User },
    errors: ["tooManyAttempts", "resetCodeInvalid", "conflict"],
    handle: async ({ ctx, body }) => replyRecord(await verifyOwnEmail(ctx, body.code)),
  }),
  defineRoute("POST", "/users/me/email/resend/", "resendEmailCode", {
    tag,
    summary: "Mail another code for the signed-in user's email",
    access: [token],
    reply: { data: Accepted },
    errors: ["wrongState"],
    handle: async ({ ctx }) => {
      await resendEmailCode(ctx);
      return reply({ accepted: true });
    },
  }),
];
