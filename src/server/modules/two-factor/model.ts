import { type Static, Type } from "@sinclair/typebox";
import { input, nullable, output, text, timestamp, whole } from "../../values/schema.ts";

const password = text(1024, "Current password of the user.");
const otp = text(
  64,
  "Six digits from the authenticator or, once two-factor authentication is enabled, a recovery code.",
);

export const PasswordProof = input("PasswordProof", { password });
export const OtpProof = input("OtpProof", { otp });
export const PasswordAndOtpProof = input("PasswordAndOtpProof", { password, otp });
export type PasswordAndOtpProof = Static<typeof PasswordAndOtpProof>;

export const TwoFactorState = output("TwoFactorState", {
  enabled: Type.Boolean(),
  confirmed_at: nullable(timestamp),
  recovery_codes_left: whole(0, 10),
});
export type TwoFactorState = Static<typeof TwoFactorState>;

export const TwoFactorEnrolment = output("TwoFactorEnrolment", {
  secret: Type.String({ description: "The secret in base32, to type into an authenticator." }),
  otpauth_uri: Type.String({ description: "The secret as an `otpauth:` URI, which authenticators open." }),
  qr_svg: Type.String({ description: "The URI as a QR code, in SVG." }),
});
export type TwoFactorEnrolment = Static<typeof TwoFactorEnrolment>;

export const RecoveryCodes = output("RecoveryCodes", {
  recovery_codes: Type.Array(Type.String({ examples: ["4k9tz-m2x7c"] }), { maxItems: 10 }),
  next_step: Type.Optional(Type.String({ description: "For the user, once two-factor authentication is enabled." })),
});

export const TwoFactorDisabled = output("TwoFactorDisabled", { enabled: Type.Literal(false) });
