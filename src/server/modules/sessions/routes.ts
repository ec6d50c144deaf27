import { app, defineRoute, noAuth, ownToken, reply, replyAfter, token } from "../../http/route.ts";
import { changeOwnPassword } from "../profile/service.ts";
import { Accepted } from "../sign-up/model.ts";
import { endOwnToken, ownTokenOf, refreshSession } from "../tokens/service.ts";
import { login, mailLoginCode } from "./login.ts";
import {
  LoginCodeRequest,
  LoginInput,
  LoginQuery,
  LoginSession,
  OwnTokenInput,
  PasswordChange,
  RevokedSession,
  Session,
} from "./model.ts";

const own = { tag: "Authentication", access: [ownToken], body: OwnTokenInput, errors: [] } as const;

export const sessionRoutes = [
  defineRoute("POST", "/auth/code/", "requestLoginCode", {
    tag: "Authentication",
    summary: "Mail a customer a code to log in with",
    access: [app("customers:sign-up")],
    secret: true,
    body: LoginCodeRequest,
    reply: { data: Accepted },
    errors: ["forbidden"],
    handle: ({ ctx, body, lang }) => replyAfter(mailLoginCode(ctx, { ...body, lang }), { accepted: true }),
  }),
  defineRoute("POST", "/auth/login/", "login", {
    tag: "Authentication",
    summary: "Log in with email and password, or with a mailed code",
    access: [noAuth],
    query: LoginQuery,
    body: LoginInput,
    reply: { data: LoginSession },
    errors: ["twoFactorRequired", "invalidLogin", "tooManyAttempts"],
    handle: async ({ ctx, query, body }) => reply(await login(ctx, { ...body, ...query })),
  }),
  defineRoute("POST", "/auth/refresh/", "refreshToken", {
    ...own,
    summary: "Exchange a token for a new one",
    reply: { data: Session },
    handle: async ({ ctx }) => reply(await refreshSession(ctx)),
  }),
  defineRoute("POST", "/auth/logout/", "logout", {
    ...own,
    summary: "Log out and revoke the token",
    reply: { data: RevokedSession },
    handle: ({ ctx }) => replyAfter(endOwnToken(ctx, ownTokenOf(ctx)), { revoked: true }),
  }),
  defineRoute("POST", "/users/me/password/", "changeOwnPassword", {
    tag: "Authentication",
    summary: "Change the password of the signed-in user",
    access: [token],
    body: PasswordChange,
    secret: true,
    reply: { data: Session },
    errors: ["invalidLogin", "tooManyAttempts", "weakPassword"],
    handle: async ({ ctx, body }) => reply(await changeOwnPassword(ctx, body)),
  }),
];
