import type { Stripe } from "stripe";
import { malformedRequest } from "../../../errors.ts";
import type { ProviderEvent } from "../provider.ts";

/** The events that the server subscribes to. All else follows from reading the page. */
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

/** Throws TypeError unless it is an event about an object. */
export function toEvent({ id, type, livemode: isLive, data }: Stripe.Event): ProviderEvent {
  const object = data.object as { id?: unknown; object?: unknown; payment_intent?: unknown };
  const { id: name, payment_intent: intent } = object;
  if (![id, type, name].every((text) => typeof text === "string")) throw new TypeError("An event has no id.");
  const isSession = object.object === "checkout.session";
  const intentId = isSession || typeof intent !== "string" ? null : intent;
  const of = { object: name as string, sessionId: isSession ? (name as string) : null, intentId };
  return { id, type, isLive: Boolean(isLive), ...of };
}

/** Verifies a call, as `ProviderKind` says. Each of the secrets may have signed it, within five minutes. */
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
