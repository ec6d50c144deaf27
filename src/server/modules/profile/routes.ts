import { defineRoute, replyAfter, replyRecord, token } from "../../http/route.ts";
import { Accepted } from "../../values/schema.ts";
import { EmailCode } from "../sign-up/routes.ts";
import { ownIdOf } from "../users/guards.ts";
import { ProfilePatch, User } from "../users/model.ts";
import { getUser } from "../users/service.ts";
import { resendEmailCode, updateOwnProfile, verifyOwnEmail } from "./service.ts";

const own = { tag: "Users", access: [token] } as const;

export const profileRoutes = [
  defineRoute("GET", "/users/me/", "getOwnProfile", {
    ...own,
    summary: "Get the signed-in user",
    reply: { data: User },
    errors: ["notFound"],
    handle: async ({ ctx }) => replyRecord(await getUser(ctx, ownIdOf(ctx))),
  }),
  defineRoute("PATCH", "/users/me/", "patchOwnProfile", {
    ...own,
    summary: "Update the signed-in user",
    body: ProfilePatch,
    reply: { data: User },
    errors: ["tooManyRequests", "invalidLogin", "tooManyAttempts"],
    conditional: true,
    handle: async ({ ctx, body, lang, ifMatch }) =>
      replyRecord(await updateOwnProfile(ctx, { ...body, lang }, ifMatch)),
  }),
  defineRoute("POST", "/users/me/email/verify/", "verifyOwnEmail", {
    ...own,
    summary: "Verify the signed-in user's email with the mailed code",
    body: EmailCode,
    secret: true,
    reply: { data: User },
    errors: ["tooManyAttempts", "resetCodeInvalid", "conflict"],
    handle: async ({ ctx, body }) => replyRecord(await verifyOwnEmail(ctx, body.code)),
  }),
  defineRoute("POST", "/users/me/email/resend/", "resendEmailCode", {
    ...own,
    summary: "Mail another code for the signed-in user's email",
    reply: { data: Accepted },
    errors: ["wrongState"],
    handle: ({ ctx }) => replyAfter(resendEmailCode(ctx), { accepted: true }),
  }),
];
