import type { Stripe } from "stripe";
import { malformedRequest } from "../../../errors.ts";
import type { ProviderEvent, SignedCall } from "../provider.ts";

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

export function toEvent({ id, type, livemode: isLive, data }: Stripe.Event): ProviderEvent {
  const { id: object, object: kind, payment_intent: intent = null } = data.object as EventObject;
  return { id, type, isLive, object, about: kind === "checkout.session" ? object : intent };
}

/** Verifies a webhook call, as `ProviderKind` says. Any of the secrets may have signed the call. */
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
