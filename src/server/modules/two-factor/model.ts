import { Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../values/schema.ts";

const password = Type.String({ minLength: 1, maxLength: 1024, description: "Current password of the user." });
const otp = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Six digits from the authenticator; with two-factor enabled, also a recovery code.",
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

/** The secret for an authenticator; returned only once. */
export const TwoFactorEnrolment = Type.Object(
  {
    secret: Type.String({ description: "In base32, for typing it." }),
    otpauth_uri: Type.String({ description: "The secret as an `otpauth:` URI, which authenticators open." }),
    qr_svg: Type.String({ description: "The URI as a QR code: an SVG document." }),
  },
  { $id: "TwoFactorEnrolment" },
);

/** Recovery codes: each replaces the one-time code once. They are shown only here. */
export const RecoveryCodes = Type.Object(
  { recovery_codes: Type.Array(Type.String({ examples: ["4k9tz-m2x7c"] }), { minItems: 10, maxItems: 10 }) },
  { $id: "RecoveryCodes" },
);

export const TwoFactorDisabled = Type.Object({ enabled: Type.Literal(false) }, { $id: "TwoFactorDisabled" });
