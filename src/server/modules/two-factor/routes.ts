import { token } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { beginTwoFactor, confirmTwoFactor } from "./enrolment.ts";
import { disableTwoFactor, renewRecoveryCodes } from "./management.ts";
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

const tag = "Two-factor";
const access = [token] as const;

/** The second factor of the calling user. */
export const twoFactorRoutes = [
  defineRoute("GET", "/users/me/two-factor/", "getTwoFactor", {
    tag,
    summary: "Get the state of two-factor authentication",
    access,
    reply: { data: TwoFactorState },
    errors: [],
    handle: async ({ ctx }) => reply(await getOwnTwoFactor(ctx)),
  }),
  defineRoute("POST", "/users/me/two-factor/", "beginTwoFactor", {
    tag,
    summary: "Begin to enable two-factor authentication",
    access,
    body: PasswordProof,
    secret: true,
    reply: { data: TwoFactorEnrolment },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => reply(await beginTwoFactor(ctx, body)),
  }),
  defineRoute("POST", "/users/me/two-factor/confirm/", "confirmTwoFactor", {
    tag,
    summary: "Enable two-factor authentication with a first code",
    access,
    body: OtpProof,
    secret: true,
    reply: { data: RecoveryCodes },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => reply({ recovery_codes: await confirmTwoFactor(ctx, body) }),
  }),
  defineRoute("POST", "/users/me/two-factor/disable/", "disableTwoFactor", {
    tag,
    summary: "Disable two-factor authentication",
    access,
    body: PasswordAndOtpProof,
    secret: true,
    reply: { data: TwoFactorDisabled },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => {
      await disableTwoFactor(ctx, body);
      return reply({ enabled: false });
    },
  }),
  defineRoute("POST", "/users/me/two-factor/recovery-codes/", "renewRecoveryCodes", {
    tag,
    summary: "Replace the recovery codes",
    access,
    body: PasswordAndOtpProof,
    secret: true,
    reply: { data: RecoveryCodes },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => reply({ recovery_codes: await renewRecoveryCodes(ctx, body) }),
  }),
];
