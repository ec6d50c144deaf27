import { uniform } from "./random.ts";

/** Random choices with a new seed in every run; a failure prints it, and `KEPT_SEED` repeats its walk. */
export function walkFrom(seed = Number(process.env.KEPT_SEED ?? Math.floor(Math.random() * 2 ** 32))) {
  const random = uniform(seed);
  const below = (limit: number) => Math.floor((random.next().value as number) * limit);
  return { seed, below, pick: <T>(of: readonly T[]) => of[below(of.length)] as T };
}

/** A reply without what may differ: its request id, its tag, and counts that follow within a minute. */
export function lastingPart({ text, status, headers }: { text: string; status: number; headers: Headers }) {
  const lasting = text.replace(/"request_id":"[^"]*"/, "").replace(/"(likes|views)_count":\d+/g, "");
  return { status, text: lasting, language: headers.get("content-language"), type: headers.get("content-type") };
}
