import { token } from "../../http/access.ts";
import { replyRecord } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ownIdOf } from "../users/guards.ts";
import { ProfilePatch, User } from "../users/model.ts";
import { getUser } from "../users/service.ts";
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
    errors: ["tooManyRequests", "invalidLogin", "tooManyAttempts", "conflict"],
    conditional: true,
    handle: async ({ ctx, body, lang, ifMatch }) =>
      replyRecord(await updateOwnProfile(ctx, { ...body, lang }, ifMatch)),
  }),
];
