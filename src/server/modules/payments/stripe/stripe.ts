import type { ProviderKind } from "../provider.ts";
import { verifyEvent } from "./events.ts";
import { stripeProvider } from "./provider.ts";
import { sessionParams } from "./session.ts";
import { takesCurrency } from "./units.ts";

/** Stripe Checkout. */
export const stripe = {
  account: { takesCurrency, requestOf: sessionParams, open: stripeProvider, verify: verifyEvent },
} satisfies ProviderKind;
