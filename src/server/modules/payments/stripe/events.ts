import type { Stripe } from "stripe";
import { attempt } from "../../../values/attempt.ts";
import type { ProviderEvent } from "../provider.ts";

/** What the server wants to hear of. All else follows from reading the page. */
export const eventTypes = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.refunded",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
] as const;

const toleranceSeconds = 300;

export function toEvent({ id, type, livemode, created, data }: Stripe.Event): ProviderEvent {
  const object = data.object as { id?: string; object: string; payment_intent?: string | { id: string } | null };
  const isSession = object.object === "checkout.session";
  const intent = typeof object.payment_intent === "object" ? object.payment_intent?.id : object.payment_intent;
  return {
    ...{ id, type, isLive: livemode, createdAt: created * 1000, object: object.id ?? "" },
    ...{ sessionId: isSession ? (object.id ?? null) : null, intentId: isSession ? null : (intent ?? null) },
  };
}

/**
 * Returns the event of a signed call; null if no secret has signed it within five minutes. The signature is verified
 * before the body is parsed.
 */
export async function verifyEvent(
  call: { body: Uint8Array; signature: string; now: number },
  secrets: readonly string[],
): Promise<ProviderEvent | null> {
  const { Stripe } = await import("stripe");
  const { webhooks, errors } = Stripe;
  const body = Buffer.from(call.body);
  for (const secret of secrets) {
    const event = await webhooks
      .constructEventAsync(body, call.signature, secret, toleranceSeconds, undefined, call.now)
      .catch((error: unknown) => {
        if (error instanceof errors.StripeSignatureVerificationError) return undefined;
        throw error;
      });
    if (event) return attempt(() => toEvent(event)) ?? null;
  }
  return null;
}
