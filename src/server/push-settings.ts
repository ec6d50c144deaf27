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
