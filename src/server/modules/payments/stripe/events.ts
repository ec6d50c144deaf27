import type { Stripe } from "stripe";
import { malformedRequest } from "../../../errors.ts";

/** The events that the server subscribes to at Stripe. All other facts are found by reading the payment page. */
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

type EventObject = Record<"id" | "object", string> & { payment_intent?: string | null };

/** Stripe's notice that a page or payment has changed. Its new state is read at Stripe. */
export type StripeEvent = ReturnType<typeof toEvent>;

/** Reads an event; `about` is Stripe's id of the page or payment that has changed. */
export function toEvent({ id, type, livemode: isLive, data }: Stripe.Event) {
  const { id: object, object: kind, payment_intent: intent = null } = data.object as EventObject;
  return { id, type, isLive, object, about: kind === "checkout.session" ? object : intent };
}

/**
 * Returns the event of a webhook call; undefined unless one of the secrets has signed it in the last five minutes.
 * Errors: malformedRequest for a signed body that is no event.
 */
export async function verifyEvent(body: Uint8Array, signature: string, secrets: readonly string[], now: number) {
  const { webhooks, errors } = (await import("stripe")).Stripe;
  const verify = (secret: string) =>
    webhooks.constructEventAsync(Buffer.from(body), signature, secret, toleranceSeconds, undefined, now);
  for (const secret of secrets) {
    try {
      return toEvent(await verify(secret));
    } catch (cause) {
      if (cause instanceof errors.StripeSignatureVerificationError) continue;
      throw malformedRequest("The body is no event of Stripe.", { cause });
    }
  }
  return undefined;
}
