import type { Answer } from "../../src/server/delivery/channel.ts";
import { describeFailure } from "../../src/server/delivery/outbound.ts";
import type {
  PushOptions,
  PushPayload,
  PushProvider,
  Target,
} from "../../src/server/modules/notifications/providers/provider.ts";

/** Returns the default options of an attempt. */
export function pushOptions(signal = new AbortController().signal): PushOptions {
  return { ttlSeconds: 60, urgency: "normal", signal };
}

/** Makes one attempt. As in the engine, an error becomes a result; only an aborted signal rejects. */
export async function attemptPush(
  provider: PushProvider,
  target: Target,
  payload: PushPayload,
  options = pushOptions(),
): Promise<Answer> {
  try {
    return await provider.deliver(target, payload, options);
  } catch (error) {
    if (options.signal.aborted) throw error;
    return { result: "failed", status: null, retryAfterMs: 0, isGone: false, error: describeFailure(error) };
  }
}
