import type { Stripe } from "stripe";
import type { PaymentOptions } from "../../../context.ts";
import { type AppError, unavailable, wrongState } from "../../../errors.ts";
import { accountFault, statusOf } from "../provider.ts";

export const stripeVersion = "2026-08-26.dahlia";

type StripeFault = Error & { type?: string; statusCode?: number; code?: string };

/**
 * Returns a function that makes calls with a key. The library is loaded at its first use, because many servers never
 * need it.
 * @throws unavailable if Stripe does not answer, is busy, fails, or does not accept the key; wrongState if it refuses.
 * The cause is the library's error.
 */
export function openStripe(key: string, options: PaymentOptions = {}) {
  return async <T>(call: (stripe: Stripe) => Promise<T>): Promise<T> => {
    try {
      return await call(await createClient(key, options));
    } catch (error) {
      const fault = error as StripeFault;
      throw /^Stripe\w+Error$/.test(fault.type ?? "") ? describeFault(fault) : error;
    }
  };
}

export type CallStripe = ReturnType<typeof openStripe>;

/** Creates a client of Stripe. A call with its two retries ends before the visitor's connection is closed. */
async function createClient(key: string, { stripeUrl, timeoutMs = 8000 }: PaymentOptions): Promise<Stripe> {
  const { Stripe } = await import("stripe");
  const { hostname: host, port, protocol } = new URL(stripeUrl ?? "https://api.stripe.com");
  return new Stripe(key, {
    ...{ apiVersion: stripeVersion, telemetry: false, maxNetworkRetries: 2, timeout: timeoutMs },
    ...{ host, port: port || (protocol === "https:" ? 443 : 80), protocol: protocol === "https:" ? "https" : "http" },
    httpClient: Stripe.createFetchHttpClient(),
  });
}

function describeFault(cause: StripeFault): AppError {
  const { statusCode: status, code } = cause;
  const message = cause.message.replaceAll(/(?:[sr]k_(?:test|live)|whsec)_\w+/g, "(secret)");
  if (status === undefined || status >= 500) return unavailable("Stripe does not answer. Try again.", { cause });
  if (status === 429 || status === 409) return unavailable("Stripe is busy. Try again.", { cause });
  if (status === 401) return accountFault("Stripe does not accept the store's key.", cause);
  if (status === 403) return accountFault(`The store's key lacks a permission at Stripe: ${message}`, cause);
  if (code === "amount_too_small") {
    const remedy = "Pay it in another way, such as by bank transfer.";
    return wrongState(`The amount is below the minimum that Stripe charges: ${message}`, { cause, remedy });
  }
  return wrongState(`Stripe refused: ${message}`, { cause, remedy: "Remove the cause, and try again." });
}

/** Ignores an error with this HTTP status, such as 404 for something that no longer exists, and throws others. */
export const expectStatus = (status: number) => (error: unknown) => {
  if (statusOf(error) !== status) throw error;
};
