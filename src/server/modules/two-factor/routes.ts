import { defineRoute, reply, replyAfter, token } from "../../http/route.ts";
import { beginTwoFactor, confirmTwoFactor, disableTwoFactor, renewRecoveryCodes } from "./enrolment.ts";
import {
  OtpProof,
  PasswordAndOtpProof,
  PasswordProof,
  RecoveryCodes,
  TwoFactorDisabled,
  TwoFactorEnrolment,
  TwoFactorState,
} from "./model.ts";
import { getOwnTwoFactor } from "./service.ts";

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
