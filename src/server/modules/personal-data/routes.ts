import { reply, replyAfter } from "../../http/envelope.ts";
import { defineRoute, token } from "../../http/route.ts";
import { Erased, Erasure, PersonalData } from "./model.ts";
import { eraseSelf, exportSelf } from "./service.ts";

const own = { tag: "Users", access: [token] } as const;

export const personalDataRoutes = [
  defineRoute("GET", "/users/me/export/", "exportOwnData", {
    ...own,
    summary: "Get all that is kept of the signed-in user",
    reply: { data: PersonalData },
    errors: ["tooManyRequests"],
    handle: async ({ ctx }) => reply(await exportSelf(ctx)),
  }),
  defineRoute("POST", "/users/me/erase/", "eraseOwnAccount", {
    ...own,
    summary: "Erase the signed-in user",
    body: Erasure,
    secret: true,
    reply: { data: Erased },
    errors: ["twoFactorRequired", "invalidLogin", "tooManyAttempts", "wrongState"],
    handle: ({ ctx, body }) => replyAfter(eraseSelf(ctx, body), { erased: true }),
  }),
];
