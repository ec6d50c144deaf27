import type { PushPlatform, PushProviders } from "../../../config/push-config.ts";
import type { PushProvider } from "./provider.ts";
import { createWebPush, type WebPushDeps } from "./web-push.ts";

/** Why nothing is sent to a platform, for operators. */
export const noProvider: Record<PushPlatform, string> = {
  web: "No provider for the web is set",
  ios: "No provider for iOS is set: BODEGA_APNS_KEY",
  android: "No provider for Android is set: BODEGA_FCM_CREDENTIALS",
};

/**
 * What sends to each platform: to browsers always, to devices where there is an account. What that takes is loaded with the
 * first message.
 */
export function createProviders(
  deps: WebPushDeps & { accounts: PushProviders },
): Partial<Record<PushPlatform, PushProvider>> {
  const { accounts, now } = deps;
  const { fcm, apns } = accounts;
  return {
    web: createWebPush(deps),
    ...(fcm && { android: loadedLate(async () => (await import("./fcm.ts")).createFcmProvider(fcm, { now })) }),
    ...(apns && { ios: loadedLate(async () => (await import("./apns.ts")).createApnsProvider(apns, { now })) }),
  };
}

function loadedLate(load: () => Promise<PushProvider>): PushProvider {
  let provider: Promise<PushProvider> | undefined;
  return {
    async deliver(...args) {
      provider ??= load();
      return (await provider).deliver(...args);
    },
    async stop() {
      await (await provider)?.stop?.();
    },
  };
}
