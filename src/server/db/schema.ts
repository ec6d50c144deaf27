// The index of all tables; nothing at run time imports it.
import { appKeyOrigins, appKeySecrets, appKeys, rejectedOrigins } from "../modules/app-keys/table.ts";
import { auditLog } from "../modules/audit/table.ts";
import { events } from "../modules/events/table.ts";
import { idempotencyKeys } from "../modules/idempotency/table.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import {
  pushDeliveries,
  pushMessages,
  pushRegistrations,
  pushTopics,
  vapidKeys,
} from "../modules/notifications/table.ts";
import { orderLines, orderNumbers, orderRefunds, orders } from "../modules/orders/table.ts";
import { passwordResetCodes } from "../modules/password-reset/table.ts";
import { products, productVariants } from "../modules/products/table.ts";
import { publicHits, rateLimits } from "../modules/rate-limits/table.ts";
import { reactions } from "../modules/reactions/table.ts";
import { resourceCounts } from "../modules/resources/table.ts";
import { rewardBalances, rewardEntries, rewardLots } from "../modules/rewards/table.ts";
import { revision, tenants } from "../modules/tenants/table.ts";
import { userTokens } from "../modules/tokens/table.ts";
import { recoveryCodes, twoFactor } from "../modules/two-factor/table.ts";
import { users } from "../modules/users/table.ts";
import { viewDays, viewMarks } from "../modules/views/table.ts";
import { webhookDeliveries, webhooks } from "../modules/webhooks/table.ts";
import { wishlistItems } from "../modules/wishlist/table.ts";
import { secretFingerprint } from "../security/table.ts";

export const schema = {
  tenants,
  revision,
  secretFingerprint,
  appKeys,
  appKeySecrets,
  appKeyOrigins,
  rejectedOrigins,
  rateLimits,
  products,
  users,
  userTokens,
  twoFactor,
  recoveryCodes,
  passwordResetCodes,
  mailOutbox,
  auditLog,
  productVariants,
  orderNumbers,
  orders,
  orderLines,
  orderRefunds,
  wishlistItems,
  rewardBalances,
  rewardEntries,
  rewardLots,
  idempotencyKeys,
  events,
  webhooks,
  webhookDeliveries,
  publicHits,
  resourceCounts,
  reactions,
  viewDays,
  viewMarks,
  vapidKeys,
  pushRegistrations,
  pushTopics,
  pushMessages,
  pushDeliveries,
};
