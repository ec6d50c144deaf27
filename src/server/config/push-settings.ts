import type { Config } from "./config.ts";

/** What a registration can be on. */
export type PushPlatform = "web" | "ios" | "android";

/** What of the server's settings those need to know who register devices or write to them. */
export interface PushSettings {
  /** Whether endpoints may be this machine's, on private networks, and http: for development and tests. */
  allowPrivate: boolean;
  /** The platforms that something can be sent to. */
  platforms: readonly PushPlatform[];
}

/** What holds where nothing is set. */
export const defaultPushSettings: PushSettings = { allowPrivate: false, platforms: ["web"] };

/** What the configuration says of it. */
export function pushSettings(config: Pick<Config, "allowPrivatePush" | "pushProviders">): PushSettings {
  const { fcm, apns } = config.pushProviders;
  const platforms: PushPlatform[] = ["web", ...(apns ? ["ios" as const] : []), ...(fcm ? ["android" as const] : [])];
  return { allowPrivate: config.allowPrivatePush, platforms };
}
