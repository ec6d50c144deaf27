import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, replyAfter, staff, token } from "../../http/route.ts";
import { IdParams, input, output } from "../../values/schema.ts";
import { ownIdOf } from "../users/guards.ts";
import { currentPassword, otp, User } from "../users/model.ts";
import { eraseSelf, eraseUser, exportUser } from "./service.ts";

const rows = (description: string) => Type.Array(Type.Object({}, { additionalProperties: true }), { description });

export const PersonalData = output("PersonalData", {
  user: User,
  sessions: rows("Tokens, without their secrets."),
  devices: rows("Devices that receive notifications."),
  orders: rows("Orders with their refunds, as `GET /orders/` returns them."),
  retention: Type.String({ description: "How long orders name their buyer." }),
  rewards: rows("Entries of the points ledger."),
  wishlist: rows("Products on the wishlist."),
  reactions: rows("Likes and bookmarks."),
  withdrawals: rows("Withdrawals from contracts that name the user's email."),
  mail: rows("Waiting mail to the user's email, and mail of the last 30 days, without contents."),
  audit: rows("Entries of the audit log about the user or caused by the user, without the user's own exports."),
});

export const Erasure = input("Erasure", { password: currentPassword, otp: Type.Optional(otp) });

export const Erased = output("Erased", { erased: Type.Literal(true) });

const own = { tag: "Users", access: [token] } as const;
const managed = { tag: "Users", access: [app("users:write"), staff], params: IdParams } as const;

export const personalDataRoutes = [
  defineRoute("GET", "/users/me/export/", "exportOwnData", {
    ...own,
    summary: "Get everything that is stored about the signed-in user",
    reply: { data: PersonalData },
    errors: ["tooManyRequests"],
    handle: async ({ ctx }) => reply(await exportUser(ctx, ownIdOf(ctx))),
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
  defineRoute("GET", "/users/:id/export/", "exportUserData", {
    ...managed,
    summary: "Get everything that is stored about a user",
    reply: { data: PersonalData },
    errors: ["tooManyRequests"],
    handle: async ({ ctx, params }) => reply(await exportUser(ctx, params.id)),
  }),
  defineRoute("POST", "/users/:id/erase/", "eraseUser", {
    ...managed,
    summary: "Erase a user",
    reply: { data: Erased },
    errors: ["wrongState"],
    handle: ({ ctx, params }) => replyAfter(eraseUser(ctx, params.id), { erased: true }),
  }),
];
