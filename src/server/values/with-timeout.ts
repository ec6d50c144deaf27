import { unavailable } from "../errors.ts";

/** Resolves like `work`, or rejects with unavailable after the time limit. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable("No answer in time.", { isInternal: true })), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
