import type { PushPlatform } from "../../../config/push-config.ts";
import type { Vault } from "../../../security/vault.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import type { PushProvider } from "../providers/provider.ts";
import { noProvider } from "../providers/providers.ts";
import { openTarget, type Target } from "../providers/target.ts";
import type { PushTask } from "./due.ts";

/** Who sends a delivery, and where to. */
export interface Route {
  provider: PushProvider;
  target: Target;
  /** What answers there: its platform and host. */
  service: string;
}

/** Why a delivery is not sent at all. */
export interface DeadEnd {
  outcome: "failed" | "dropped" | "expired";
  error: string | null;
}

const drop = (error: string): DeadEnd => ({ outcome: "dropped", error });

/**
 * Who sends a delivery, and where to, as things stand now.
 * @param providers what sends to each platform.
 */
export function findRoute(
  task: PushTask,
  {
    providers,
    vault,
    now,
  }: { providers: Partial<Record<PushPlatform, PushProvider>>; vault: Vault; now: () => number },
): Route | DeadEnd {
  const { platform, registration_id: id } = task;
  if (task.expires_at <= toTimestamp(now())) return { outcome: "expired", error: null };
  if (id === null || task.target === null) return drop("the registration is gone");
  if (task.is_theirs === 0) return drop("the device is not theirs any more");
  if (task.is_welcome === 0) return drop("the device's user is disabled");
  const provider = providers[platform];
  if (!provider) return { outcome: "failed", error: noProvider[platform] };
  const target = openTarget(vault, id, task.target);
  if (!target) return drop("the registration was sealed with another key");
  return { provider, target, service: `${platform} ${provider.serviceOf?.(target) ?? ""}`.trim() };
}
