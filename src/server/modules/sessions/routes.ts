import { Type } from "@sinclair/typebox";
import { app, defineRoute, noAuth, ownToken, reply, replyAfter, token } from "../../http/route.ts";
import { Accepted, closed, input, output, text, timestamp, whole } from "../../values/schema.ts";
import { changeOwnPassword } from "../profile/service.ts";
import { visitor } from "../sign-up/routes.ts";
import { Store } from "../tenants/model.ts";
import { endOwnToken, refreshSession } from "../tokens/service.ts";
import { currentPassword, newPassword, otp } from "../users/model.ts";
import { login, mailLoginCode } from "./login.ts";

const LoginInput = input("LoginInput", {
  email: Type.String({ minLength: 1, maxLength: 320, description: "Case is ignored." }),
  password: Type.Optional(text(1024, "Required without `code`.")),
  code: Type.Optional(
    text(64, "Instead of `password`: the six digits that `POST /auth/code/` mailed, as a string.", {
      examples: ["012345"],
    }),
  ),
  otp: Type.Optional(otp),
  visitor,
  expires_in: Type.Optional(
    whole(300, 34_560_000, "Seconds until the token expires, at most the lifetime that the store sets."),
  ),
});

const LoginCodeRequest = input("LoginCodeRequest", { email: text(320) });

const PasswordChange = input("PasswordChange", { current_password: currentPassword, password: newPassword });

const LoginQuery = Type.Pick(LoginInput, ["visitor"], { $id: undefined });

/** The body may contain the common parameters `user_id` and `token`, but no other fields. */
const OwnTokenInput = closed({});

const session = {
  user_id: Type.String({ description: "`usr_…`" }),
  token: Type.String({ description: "`v2.…`; returned only once." }),
  expires_at: timestamp,
};

const Session = output("Session", session);

const LoginSession = output("LoginSession", { ...session, store: Store });

const RevokedSession = output("RevokedSession", { revoked: Type.Literal(true) });

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
    handle: ({ ctx }) => replyAfter(endOwnToken(ctx), { revoked: true }),
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
