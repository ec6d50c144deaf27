import { Type } from "@sinclair/typebox";
import { defineRoute, reply, replyAfter, token } from "../../http/route.ts";
import { input, nullable, output, text, timestamp, whole } from "../../values/schema.ts";
import { currentPassword } from "../users/model.ts";
import { beginTwoFactor, confirmTwoFactor, disableTwoFactor, renewRecoveryCodes } from "./enrolment.ts";
import { getOwnTwoFactor } from "./service.ts";

const otp = text(
  64,
  "Six digits from the authenticator or, once two-factor authentication is enabled, a recovery code.",
);

const PasswordProof = input("PasswordProof", { password: currentPassword });
const OtpProof = input("OtpProof", { otp });
const PasswordAndOtpProof = input("PasswordAndOtpProof", { password: currentPassword, otp });

const TwoFactorState = output("TwoFactorState", {
  enabled: Type.Boolean(),
  confirmed_at: nullable(timestamp),
  recovery_codes_left: whole(0, 10),
});

const TwoFactorEnrolment = output("TwoFactorEnrolment", {
  secret: Type.String({ description: "The secret in base32, to type into an authenticator." }),
  otpauth_uri: Type.String({ description: "The secret as an `otpauth:` URI, which authenticators open." }),
  qr_svg: Type.String({ description: "The URI as a QR code, in SVG." }),
});

const RecoveryCodes = output("RecoveryCodes", {
  recovery_codes: Type.Array(Type.String({ examples: ["4k9tz-m2x7c"] }), { maxItems: 10 }),
  next_step: Type.Optional(
    Type.String({ description: "Advice to show to the user when two-factor has just been enabled." }),
  ),
});

const TwoFactorDisabled = output("TwoFactorDisabled", { enabled: Type.Literal(false) });

const common = { tag: "Two-factor", access: [token] } as const;
const proved = { ...common, secret: true, errors: ["invalidLogin", "tooManyAttempts", "wrongState"] } as const;

const nextStep = "Each code works once. To sign in, wait for the next one, up to 30 seconds.";

export const twoFactorRoutes = [
  defineRoute("GET", "/users/me/two-factor/", "getTwoFactor", {
    ...common,
    summary: "Get the state of two-factor authentication",
    reply: { data: TwoFactorState },
    handle: async ({ ctx }) => reply(await getOwnTwoFactor(ctx)),
  }),
  defineRoute("POST", "/users/me/two-factor/", "beginTwoFactor", {
    ...proved,
    summary: "Begin to enable two-factor authentication",
    body: PasswordProof,
    reply: { data: TwoFactorEnrolment },
    handle: async ({ ctx, body }) => reply(await beginTwoFactor(ctx, body)),
  }),
  defineRoute("POST", "/users/me/two-factor/confirm/", "confirmTwoFactor", {
    ...proved,
    summary: "Enable two-factor authentication with a first code",
    body: OtpProof,
    reply: { data: RecoveryCodes },
    handle: async ({ ctx, body }) => reply({ recovery_codes: await confirmTwoFactor(ctx, body), next_step: nextStep }),
  }),
  defineRoute("POST", "/users/me/two-factor/disable/", "disableTwoFactor", {
    ...proved,
    summary: "Disable two-factor authentication",
    body: PasswordAndOtpProof,
    reply: { data: TwoFactorDisabled },
    handle: ({ ctx, body }) => replyAfter(disableTwoFactor(ctx, body), { enabled: false }),
  }),
  defineRoute("POST", "/users/me/two-factor/recovery-codes/", "renewRecoveryCodes", {
    ...proved,
    summary: "Replace the recovery codes",
    body: PasswordAndOtpProof,
    reply: { data: RecoveryCodes },
    handle: async ({ ctx, body }) => reply({ recovery_codes: await renewRecoveryCodes(ctx, body) }),
  }),
];
