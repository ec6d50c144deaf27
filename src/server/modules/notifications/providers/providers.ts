import type { PushPlatform, PushProviders } from "../../../config/push-config.ts";
import type { PushProvider } from "./provider.ts";
import { createWebPush, type WebPushDeps } from "./web-push.ts";

export const noProvider: Record<PushPlatform, string> = {
  web: "Web Push is off",
  ios: "No APNs account is configured for iOS: set BODEGA_APNS_KEY",
  android: "No FCM account is configured for Android: set BODEGA_FCM_CREDENTIALS",
};

/** The providers by platform: browsers always, devices with an account. Libraries are loaded with the first message. */
export function createProviders(deps: WebPushDeps & { accounts: PushProviders }) {
  const { accounts, now } = deps;
  const { fcm, apns } = accounts;
  return {
    web: createWebPush(deps),
    ...(fcm && { android: loadLazily(async () => (await import("./fcm.ts")).createFcmProvider(fcm, { now })) }),
    ...(apns && { ios: loadLazily(async () => (await import("./apns.ts")).createApnsProvider(apns, { now })) }),
  };
}

function loadLazily(load: () => Promise<PushProvider>): PushProvider {
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
