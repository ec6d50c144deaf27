// The index of all tables; nothing at run time imports it.
import { appKeyOrigins, appKeySecrets, appKeys } from "../modules/app-keys/table.ts";
import { auditLog } from "../modules/audit/table.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import { passwordResetCodes } from "../modules/password-reset/table.ts";
import { products } from "../modules/products/table.ts";
import { rateLimits } from "../modules/rate-limits/table.ts";
import { revision, secretFingerprint, tenants } from "../modules/tenants/table.ts";
import { userTokens } from "../modules/tokens/table.ts";
import { recoveryCodes, twoFactor } from "../modules/two-factor/table.ts";
import { users } from "../modules/users/table.ts";

export const schema = {
  tenants,
  revision,
  secretFingerprint,
  appKeys,
  appKeySecrets,
  appKeyOrigins,
  rateLimits,
  products,
  users,
  userTokens,
  twoFactor,
  recoveryCodes,
  passwordResetCodes,
  mailOutbox,
  auditLog,
};
