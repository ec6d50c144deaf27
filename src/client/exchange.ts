import { BodegaError } from "./error.ts";

/** How requests are retried. */
export interface RetryPolicy {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Maximum repeats of a request. */
  retries: number;
  /** Timeout of one attempt. */
  timeoutMs: number;
}

/** A request that is ready to be sent. */
export interface Outgoing {
  url: string;
  init: RequestInit;
  /** Whether the request may run twice. After a lost connection, the client does not know whether it ran. */
  isRepeatable: boolean;
}

type ErrorBody = Pick<BodegaError, "code" | "type" | "message" | "remedy" | "details">;

/** A reply without an error. */
export interface Envelope {
  request_id: string;
  data: unknown;
  page?: { next_cursor: string | null; has_more: boolean };
}

const network = { code: "network", type: "network" } as const;
const firstDelayMs = 300;
const longestDelayMs = 5_000;
/** Maximum `Retry-After`, in seconds. If the server sends a longer one, the request is not retried. */
const maxRetryAfter = 30;

/** Sends a request, and repeats it after temporary errors. Errors: BodegaError; the signal's reason. */
export async function exchange({ url, init, isRepeatable }: Outgoing, policy: RetryPolicy): Promise<Envelope> {
  for (let attempt = 0; ; attempt++) {
    const answer = await sendOnce(url, init, policy);
    if ("data" in answer) return answer;
    const { code, status = 503, retryAfter = 0 } = answer;
    const passes = code === 5001 || code === 5107 || (code === "network" && status >= 500 && isRepeatable);
    if (!passes || attempt >= policy.retries || retryAfter > maxRetryAfter) throw answer;
    const delayMs = Math.min(firstDelayMs * 2 ** attempt, longestDelayMs);
    await pause(retryAfter * 1000 + delayMs * (0.5 + Math.random() / 2), init.signal);
  }
}

const isStream = (type: string | null) => type?.startsWith("text/event-stream") === true;

/** Returns a signal that aborts after the timeout, or when the caller aborts. Streams have no timeout. */
function signalOf(init: RequestInit, timeoutMs: number): AbortSignal | null {
  if (isStream(new Headers(init.headers).get("accept"))) return init.signal ?? null;
  const timeout = AbortSignal.timeout(timeoutMs);
  return init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
}

async function sendOnce(
  url: string,
  init: RequestInit,
  { fetch, timeoutMs }: RetryPolicy,
): Promise<Envelope | BodegaError> {
  let isAnswered = false;
  let status: number | undefined;
  try {
    const response = await fetch(url, { ...init, signal: signalOf(init, timeoutMs) });
    isAnswered = true;
    if (isStream(response.headers.get("content-type"))) return { request_id: "", data: response.body };
    const text = await response.text();
    // A lost connection can cut off JSON, which then cannot be parsed. `status` is set later, so it stays undefined.
    if (!response.headers.get("content-type")?.startsWith("application/json")) status = response.status;
    const { request_id: requestId, error, ...rest } = JSON.parse(text) as Partial<Envelope & { error: ErrorBody }>;
    status = response.status;
    if (error) {
      const wait = response.headers.get("retry-after");
      return new BodegaError({ ...error, status, requestId, retryAfter: wait === null ? undefined : Number(wait) });
    }
    if (!requestId) throw new Error("The reply does not come from Bodega.");
    return { request_id: requestId, ...rest } as Envelope;
  } catch (cause) {
    init.signal?.throwIfAborted();
    if (status !== undefined)
      return new BodegaError({ ...network, message: `The reply (${status}) could not be read.`, status, cause });
    if (isAnswered) return new BodegaError({ ...network, message: "The reply broke off before its end.", cause });
    // Browsers do not say whether CORS or the network was the cause, so the message names both.
    const isPage = "document" in globalThis;
    const message = `The server cannot be reached${isPage ? ", or the key does not allow this page's origin" : ""}.`;
    const remedy = isPage ? "Check the address, and the origin: bodega origin check" : undefined;
    return new BodegaError({ ...network, message, remedy, cause });
  }
}

function pause(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
