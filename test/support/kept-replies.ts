import { uniform } from "./random.ts";

/**
 * Returns functions for random choices. Each run has a new seed. A failure prints it, and `KEPT_SEED` repeats the run.
 */
export function walkFrom(seed = Number(process.env.KEPT_SEED ?? Math.floor(Math.random() * 2 ** 32))) {
  const random = uniform(seed);
  const below = (limit: number) => Math.floor((random.next().value as number) * limit);
  return { seed, below, pick: <T>(of: readonly T[]) => of[below(of.length)] as T };
}

/**
 * Returns the parts of a reply that must be equal: all except the request id, the ETag, and counts that may be a minute
 * old.
 */
export function lastingPart({ text, status, headers }: { text: string; status: number; headers: Headers }) {
  const lasting = text.replace(/"request_id":"[^"]*"/, "").replace(/"(likes|views)_count":\d+/g, "");
  return { status, text: lasting, language: headers.get("content-language"), type: headers.get("content-type") };
}
