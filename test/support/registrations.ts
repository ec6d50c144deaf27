import { randomBytes } from "node:crypto";
import type { Call } from "./client.ts";
import { createBrowser } from "./push-browser.ts";

/** A registration in a reply. */
export interface RegistrationReply {
  id: string;
  platform: "web" | "ios" | "android";
  lang: string;
  topics: string[];
  user_id: string | null;
  delivery: "on" | "off";
  management_secret: string;
  created_at: string;
  updated_at: string;
}

let browsers = 0;

/** Makes the subscription of a new browser: with new keys, and by default with a new endpoint. */
export function newSubscription(endpoint = `https://push.example.com/send/${++browsers}-${Bun.randomUUIDv7("hex")}`) {
  return { endpoint, expirationTime: null, keys: createBrowser().keys };
}

/** Returns a unique token of an iPhone. */
export function newAppleToken(): string {
  return randomBytes(32).toString("hex");
}

/** Returns a unique token of an Android phone. */
export function newGoogleToken(): string {
  return `${randomBytes(16).toString("base64url")}:APA91b${randomBytes(100).toString("base64url")}`;
}

/** Registers a browser, or the device in `fields`. Returns the registration. */
export async function registerWith(call: Call, fields: Record<string, unknown> = {}): Promise<RegistrationReply> {
  const usual = "token" in fields ? {} : { platform: "web", subscription: newSubscription() };
  const { data, text } = await call<RegistrationReply>("POST /notifications/register/", {
    body: { ...usual, ...fields },
  });
  if (!data?.id) throw new Error(`It was not registered: ${text}`);
  return data;
}
