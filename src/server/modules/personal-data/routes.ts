import { token } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { ownIdOf } from "../users/guards.ts";
import { eraseSelf } from "./erase.ts";
import { exportPerson } from "./export.ts";
import { Erased, Erasure, PersonalData } from "./model.ts";

export const personalDataRoutes = [
  defineRoute("GET", "/users/me/export/", "exportOwnData", {
    tag: "Users",
    summary: "Get all that is kept of the signed-in user",
    access: [token],
    reply: { data: PersonalData },
    errors: [],
    handle: async ({ ctx }) => reply(await exportPerson(ctx, ownIdOf(ctx))),
  }),
  defineRoute("POST", "/users/me/erase/", "eraseOwnAccount", {
    tag: "Users",
    summary: "Erase the signed-in user",
    access: [token],
    body: Erasure,
    secret: true,
    reply: { data: Erased },
    errors: ["twoFactorRequired", "invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => {
      await eraseSelf(ctx, body);
      return reply({ erased: true });
    },
  }),
];
