import type { PushOptions } from "../../src/server/modules/notifications/providers/provider.ts";

/** Options of an attempt that a test has nothing to say about. */
export function pushOptions(signal = new AbortController().signal): PushOptions {
  return { ttlSeconds: 60, urgency: "normal", contact: "mailto:shop@example.com", signal };
}
