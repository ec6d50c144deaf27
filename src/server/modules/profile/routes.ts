import { token } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ProfilePatch, User } from "../users/model.ts";
import { getOwnProfile, updateOwnProfile } from "./service.ts";

const tag = "Users";

/** The record of the calling user. */
export const profileRoutes = [
  defineRoute("GET", "/users/me/", "getOwnProfile", {
    tag,
    summary: "Get the signed-in user",
    access: [token],
    reply: { data: User },
    errors: ["notFound"],
    handle: async ({ ctx }) => {
      const user = await getOwnProfile(ctx);
      return reply(user, { version: user.version });
    },
  }),
  defineRoute("PATCH", "/users/me/", "patchOwnProfile", {
    tag,
    summary: "Update the signed-in user",
    access: [token],
    body: ProfilePatch,
    reply: { data: User },
    errors: ["tooManyRequests", "invalidLogin", "tooManyAttempts", "conflict"],
    conditional: true,
    handle: async ({ ctx, body, lang, ifMatch }) => {
      const user = await updateOwnProfile(ctx, { ...body, lang }, ifMatch);
      return reply(user, { version: user.version });
    },
  }),
];
