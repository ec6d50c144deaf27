import type { Stripe } from "stripe";
import { malformedRequest } from "../../../errors.ts";

/** The types of events that Stripe reports to the server. */
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

/** The body and the `Stripe-Signature` of a webhook call, and the secrets that may have signed it. */
type SignedCall = { body: Uint8Array; signature: string; secrets: readonly string[]; now: number };

/**
 * Converts an event of Stripe. An event says that a page or payment has changed: `about` is its id. The new state is
 * then read at Stripe.
 */
export function toEvent({ id, type, livemode: isLive, data }: Stripe.Event) {
  const { id: object, object: kind, payment_intent: intent = null } = data.object as EventObject;
  return { id, type, isLive, object, about: kind === "checkout.session" ? object : intent };
}

/**
 * Returns the event of a webhook call; undefined unless one of the secrets has signed it in the last five minutes.
 * @throws malformedRequest for a signed body that is no event.
 */
export async function verifyEvent({ body, signature, secrets, now }: SignedCall) {
  const { webhooks, errors } = (await import("stripe")).Stripe;
  const verify = (secret: string) =>
    webhooks.constructEventAsync(Buffer.from(body), signature, secret, toleranceSeconds, undefined, now);
  for (const secret of secrets) {
    try {
      const event = toEvent(await verify(secret));
      const texts = [event.id, event.type, event.object];
      if (texts.every((text) => typeof text === "string")) return event;
      throw new TypeError("The event lacks its id, its type or the id of its object.");
    } catch (cause) {
      if (cause instanceof errors.StripeSignatureVerificationError) continue;
      throw malformedRequest("The body is no event of Stripe.", { cause });
    }
  }
  return undefined;
}
