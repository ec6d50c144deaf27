import type { Stripe as StripeClient } from "stripe";
import { type AppError, unavailable, wrongState } from "../../../errors.ts";
import { LruCache } from "../../../values/lru-cache.ts";

export const stripeVersion = "2026-08-26.dahlia";

export interface StripeOptions {
  /** Where the API is; undefined is Stripe. */
  stripeUrl?: string | undefined;
  timeoutMs?: number | undefined;
}

const clients = new LruCache<StripeClient>(100);

/**
 * Returns the client of a key. A call and its two repetitions end before the server closes a connection that waits for
 * its reply. The library is loaded at its first use, because many servers never need it.
 */
export async function openStripe(key: string, { stripeUrl, timeoutMs = 8000 }: StripeOptions): Promise<StripeClient> {
  const { Stripe } = await import("stripe");
  return clients.getOrMake(`${key} ${stripeUrl} ${timeoutMs}`, () => {
    const url = stripeUrl === undefined ? undefined : new URL(stripeUrl);
    const place = url && {
      ...{ host: url.hostname, port: url.port || (url.protocol === "https:" ? 443 : 80) },
      protocol: url.protocol.slice(0, -1) as "http" | "https",
    };
    return new Stripe(key, {
      ...{ apiVersion: stripeVersion, telemetry: false, maxNetworkRetries: 2, timeout: timeoutMs },
      ...{ httpClient: Stripe.createFetchHttpClient(), ...place },
    });
  });
}

/** What an error of the library says. */
export interface StripeFault {
  statusCode?: number;
  code?: string;
  message: string;
}

/**
 * Calls Stripe.
 * @throws unavailable if it does not answer, is busy or fails; wrongState if it refuses. The cause is a StripeFault.
 */
export async function callStripe<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!/^Stripe\w+Error$/.test((error as { type?: string }).type ?? "")) throw error;
    const { statusCode, code, message } = error as StripeFault;
    throw describeFault({ ...(statusCode && { statusCode }), ...(code && { code }), message });
  }
}

function describeFault(cause: StripeFault): AppError {
  const { statusCode: status, code, message } = cause;
  if (status === undefined || status >= 500) return unavailable("Stripe does not answer. Try again.", { cause });
  if (status === 429 || status === 409) return unavailable("Stripe is busy. Try again.", { cause });
  const check = "Check the key: bodega payment check";
  if (status === 401) return wrongState("Stripe does not accept the store's key.", { cause, remedy: check });
  if (status === 403) {
    const remedy = "Give the restricted key the permissions that are listed by: bodega payment connect --help";
    return wrongState(`The store's key lacks a permission at Stripe: ${message}`, { cause, remedy });
  }
  if (code === "amount_too_small") {
    const remedy = "Pay it in another way, such as by bank transfer.";
    return wrongState("The amount is below the minimum that Stripe charges.", { cause, remedy });
  }
  return wrongState(`Stripe refused: ${message}`, { cause, remedy: "Change what Stripe names, and try again." });
}

/** The answer of Stripe behind an error of `callStripe`. */
export const faultOf = (error: unknown): StripeFault | undefined =>
  error instanceof Error ? (error.cause as StripeFault | undefined) : undefined;
