import { type Static, Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../values/schema.ts";

const password = Type.String({ minLength: 1, maxLength: 1024 });

export const LoginInput = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320, description: "Upper and lower case are the same." }),
    password,
    otp: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "Six digits, or a recovery code. Only with two-factor on; an empty one counts as missing.",
      }),
    ),
    visitor: Type.Optional(
      Type.String({
        description: "`vis_…`: whose likes and bookmarks become the user's. One that is none is ignored.",
      }),
    ),
  },
  { $id: "LoginInput", additionalProperties: false },
);
export type LoginInput = Static<typeof LoginInput>;

export const PasswordChange = Type.Object(
  {
    current_password: password,
    password: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: "At least 16 characters with lowercase, uppercase, digit and special character; no common one.",
    }),
  },
  { $id: "PasswordChange", additionalProperties: false },
);
export type PasswordChange = Static<typeof PasswordChange>;

/** The field of a login that the query may name as well. */
export const LoginQuery = Type.Pick(LoginInput, ["visitor"], { $id: undefined });

/** No fields of its own: `user_id` and `token` may stand here instead of in the query. */
export const OwnTokenInput = Type.Object({}, { additionalProperties: false });

const session = {
  user_id: Type.String({ description: "`usr_…`" }),
  token: Type.String({ description: "`v2.…`; shown here only." }),
  expires_at: timestamp,
};

/** What a refresh and a change of password answer. */
export const Session = Type.Object(session, { $id: "Session" });

/** The store that a client has connected to (specification, section 2). */
export const Store = Type.Object(
  {
    namespace: Type.String(),
    title: Type.String(),
    domain: nullable(Type.String()),
    url: nullable(Type.String()),
    currency: Type.String({ description: "ISO 4217." }),
    currency_sign: Type.String(),
    logo: nullable(Type.String()),
  },
  { $id: "Store" },
);
export type Store = Static<typeof Store>;

/** What a login answers (specification, section 2). */
export const LoginSession = Type.Object({ ...session, store: Store }, { $id: "LoginSession" });
export type LoginSession = Static<typeof LoginSession>;

export const RevokedSession = Type.Object({ revoked: Type.Literal(true) }, { $id: "RevokedSession" });
