import type { PushPlatform, PushProviders } from "../../../config/push-config.ts";
import { createApnsProvider } from "./apns.ts";
import { createFcmProvider } from "./fcm.ts";
import { createWebPush, type WebPushDeps } from "./web-push.ts";

export const noProvider: Record<PushPlatform, string> = {
  web: "Web Push is off",
  ios: "No APNs account is configured for iOS: set BODEGA_APNS_KEY",
  android: "No FCM account is configured for Android: set BODEGA_FCM_CREDENTIALS",
};

export function createProviders(deps: WebPushDeps & { accounts: PushProviders }) {
  const { accounts, now } = deps;
  const { fcm, apns } = accounts;
  return {
    web: createWebPush(deps),
    ...(fcm && { android: createFcmProvider(fcm, { now }) }),
    ...(apns && { ios: createApnsProvider(apns, { now }) }),
  };
}
