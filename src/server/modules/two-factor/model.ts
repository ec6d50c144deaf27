import { Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../values/schema.ts";

const password = Type.String({ minLength: 1, maxLength: 1024, description: "The user's present password." });
const otp = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The six digits that the authenticator shows; where the second factor is on, also a recovery code.",
});

export const PasswordProof = Type.Object({ password }, { $id: "PasswordProof", additionalProperties: false });
export const OtpProof = Type.Object({ otp }, { $id: "OtpProof", additionalProperties: false });
export const PasswordAndOtpProof = Type.Object(
  { password, otp },
  { $id: "PasswordAndOtpProof", additionalProperties: false },
);

/** Whether a user's second factor is on, and what is left of the recovery codes. */
export const TwoFactorState = Type.Object(
  {
    enabled: Type.Boolean(),
    confirmed_at: nullable(timestamp),
    recovery_codes_left: Type.Integer({ minimum: 0, maximum: 10 }),
  },
  { $id: "TwoFactorState" },
);

/** What an authenticator needs; never shown again. */
export const TwoFactorEnrolment = Type.Object(
  {
    secret: Type.String({ description: "Base32, for typing it in." }),
    otpauth_uri: Type.String({ description: "The same as the address that an authenticator opens." }),
    qr_svg: Type.String({ description: "That address as a QR code: an SVG document." }),
  },
  { $id: "TwoFactorEnrolment" },
);

/** Codes that stand in for the one-time code, once each; never shown again. */
export const RecoveryCodes = Type.Object(
  { recovery_codes: Type.Array(Type.String({ examples: ["4k9tz-m2x7c"] }), { minItems: 10, maxItems: 10 }) },
  { $id: "RecoveryCodes" },
);

export const TwoFactorDisabled = Type.Object({ enabled: Type.Literal(false) }, { $id: "TwoFactorDisabled" });
