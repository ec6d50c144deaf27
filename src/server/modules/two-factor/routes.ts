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
  defineRoute({
    method: "GET",
    path: "/users/me/two-factor/",
    id: "getTwoFactor",
    tag,
    summary: "Get the state of two-factor authentication",
    access,
    reply: { data: TwoFactorState },
    errors: [],
    handle: async ({ ctx }) => reply(await getOwnTwoFactor(ctx)),
  }),
  defineRoute({
    method: "POST",
    path: "/users/me/two-factor/",
    id: "beginTwoFactor",
    tag,
    summary: "Begin to enable two-factor authentication",
    access,
    body: PasswordProof,
    secret: true,
    reply: { data: TwoFactorEnrolment },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => reply(await beginTwoFactor(ctx, body)),
  }),
  defineRoute({
    method: "POST",
    path: "/users/me/two-factor/confirm/",
    id: "confirmTwoFactor",
    tag,
    summary: "Enable two-factor authentication with a first code",
    access,
    body: OtpProof,
    secret: true,
    reply: { data: RecoveryCodes },
    errors: ["invalidLogin", "tooManyAttempts", "wrongState"],
    handle: async ({ ctx, body }) => reply({ recovery_codes: await confirmTwoFactor(ctx, body) }),
  }),
  defineRoute({
    method: "POST",
    path: "/users/me/two-factor/disable/",
    id: "disableTwoFactor",
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
  defineRoute({
    method: "POST",
    path: "/users/me/two-factor/recovery-codes/",
    id: "renewRecoveryCodes",
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
