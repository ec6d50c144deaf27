import { type Static, Type } from "@sinclair/typebox";
import { closed, input, output, text, timestamp } from "../../values/schema.ts";
import { Store } from "../tenants/model.ts";
import { newPassword } from "../users/model.ts";

const password = Type.String({ minLength: 1, maxLength: 1024 });

export const LoginInput = input("LoginInput", {
  email: Type.String({ minLength: 1, maxLength: 320, description: "Upper and lower case are not distinguished." }),
  password: Type.Optional(Type.String({ ...password, description: "Required without `code`." })),
  code: Type.Optional(
    text(64, "Instead of `password`: the six digits that `POST /auth/code/` mailed, as a string.", {
      examples: ["012345"],
    }),
  ),
  otp: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "One-time code of six digits, or a recovery code; required if two-factor authentication is enabled. Empty is the same as missing.",
    }),
  ),
  visitor: Type.Optional(
    Type.String({
      description: "Visitor token. The visitor's likes and bookmarks become the user's. Ignored if it is invalid.",
    }),
  ),
});
export type LoginInput = Static<typeof LoginInput>;

export const LoginCodeRequest = input("LoginCodeRequest", { email: text(320) });

export const PasswordChange = input("PasswordChange", { current_password: password, password: newPassword });

export const LoginQuery = Type.Pick(LoginInput, ["visitor"], { $id: undefined });

/** Has no fields: `user_id` and `token` may be in the body instead of the query. */
export const OwnTokenInput = closed({});

const session = {
  user_id: Type.String({ description: "`usr_…`" }),
  token: Type.String({ description: "`v2.…`; returned only once." }),
  expires_at: timestamp,
};

export const Session = output("Session", session);

export const LoginSession = output("LoginSession", { ...session, store: Store });
export type LoginSession = Static<typeof LoginSession>;

export const RevokedSession = output("RevokedSession", { revoked: Type.Literal(true) });
