import { unavailable } from "../errors.ts";

/** Waits for `work`. Throws the signal's reason if the signal aborts first. */
export async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    // If both promises are settled, the first in the list wins, so an abort takes precedence.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const noAnswer = () => unavailable("No answer in time.", { isInternal: true });

export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, error = noAnswer): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(error()), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
