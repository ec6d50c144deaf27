export type PushPlatform = "web" | "ios" | "android";

export interface PushOptions {
  /** Allows http, and endpoints on this machine or a private network, for development and tests. */
  allowPrivate: boolean;
}
