import type { Route } from "../http/route.ts";
import { categoryRoutes, productRoutes, variantRoutes } from "../modules/catalogue/routes.ts";
import { discountRoutes } from "../modules/discounts/routes.ts";
import { eventRoutes } from "../modules/events/routes.ts";
import { invoiceRoutes } from "../modules/invoices/routes.ts";
import { mailRoutes } from "../modules/mail/routes.ts";
import { mediaRoutes } from "../modules/media/routes.ts";
import { notificationRoutes } from "../modules/notifications/routes.ts";
import { orderRoutes } from "../modules/orders/routes.ts";
import { passwordResetRoutes } from "../modules/password-reset/routes.ts";
import { paymentRoutes } from "../modules/payments/routes.ts";
import { personalDataRoutes } from "../modules/personal-data/routes.ts";
import { profileRoutes } from "../modules/profile/routes.ts";
import { reactionRoutes } from "../modules/reactions/routes.ts";
import { reportRoutes } from "../modules/reports/routes.ts";
import { rewardRoutes } from "../modules/rewards/routes.ts";
import { sessionRoutes } from "../modules/sessions/routes.ts";
import { shippingRoutes } from "../modules/shipping/routes.ts";
import { signUpRoutes } from "../modules/sign-up/routes.ts";
import { taxRoutes } from "../modules/taxes/routes.ts";
import { storeRoutes } from "../modules/tenants/routes.ts";
import { twoFactorRoutes } from "../modules/two-factor/routes.ts";
import { userRoutes } from "../modules/users/routes.ts";
import { viewRoutes } from "../modules/views/routes.ts";
import { wishlistRoutes } from "../modules/wishlist/routes.ts";

export const routes: readonly Route[] = [
  ...categoryRoutes,
  ...discountRoutes,
  ...eventRoutes,
  ...mailRoutes,
  ...mediaRoutes,
  ...orderRoutes,
  ...passwordResetRoutes,
  ...paymentRoutes,
  ...invoiceRoutes,
  ...personalDataRoutes,
  ...productRoutes,
  ...profileRoutes,
  ...reactionRoutes,
  ...notificationRoutes,
  ...reportRoutes,
  ...rewardRoutes,
  ...sessionRoutes,
  ...shippingRoutes,
  ...signUpRoutes,
  ...storeRoutes,
  ...taxRoutes,
  ...twoFactorRoutes,
  ...userRoutes,
  ...variantRoutes,
  ...viewRoutes,
  ...wishlistRoutes,
];
