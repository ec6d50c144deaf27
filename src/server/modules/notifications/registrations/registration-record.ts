import { timingSafeEqual } from "node:crypto";
import { sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { hashSecret } from "../../../security/random-secret.ts";
import { countPublicWrite } from "../../rate-limits/public-writes.ts";
import type { Target } from "../providers/provider.ts";
import { pushTopics } from "../table.ts";
import type { Registration } from "./registration-model.ts";

/** The columns of a registration that replies show. */
export type RegistrationRow = Omit<Registration, "delivery" | "lang" | "topics"> & {
  lang: string | null;
  /** JSON array. */
  topics: string;
};

/** SQL of these columns, of a row `r`. */
export const registrationColumns = sql`r.id, r.platform, r.lang, r.user_id, r.created_at, r.updated_at,
  (select json_group_array(topic) from ${pushTopics} where registration_id = r.id) as topics`;

export function toRegistration(ctx: Ctx, { topics, lang, ...row }: RegistrationRow): Registration {
  const delivery = deliveryOf(ctx, row.platform);
  return { ...row, lang: lang ?? ctx.tenant.language, topics: parseTopics(topics), delivery };
}

/** The topics of a row, in alphabetical order. */
export function parseTopics(json: string): string[] {
  return (JSON.parse(json) as string[]).toSorted();
}

export function deliveryOf({ push = defaultPushOptions }: Ctx, platform: PushPlatform): "on" | "off" {
  return push.platforms.includes(platform) ? "on" : "off";
}

/**
 * Keyed hashes of a target, different in each store. `targetKey` finds its registration. `proofKey` is made of the keys
 * with which it can be registered again; null for tokens, which are secret themselves.
 * @throws unavailable without the server's key.
 */
export function keysOf({ vault, tenant }: Ctx, platform: PushPlatform, target: Target) {
  const hash = (kind: string, ...texts: string[]) => vault.mac("push", [kind, tenant.id, ...texts].join("\n"));
  if ("token" in target) return { targetKey: hash("target", platform, target.token), proofKey: null };
  const { endpoint, keys } = target;
  return { targetKey: hash("target", platform, endpoint), proofKey: hash("proof", keys.p256dh, keys.auth) };
}

/**
 * Counts a write towards the limits of its address and user.
 * @param device counted if the caller is not a user: one app key may write for many devices.
 * @throws tooManyRequests.
 */
export async function countDeviceWrite(ctx: Ctx, device: string): Promise<void> {
  await countPublicWrite(ctx, ctx.actor.kind === "user" ? ctx.actor.userId : device);
}

/** Compares a secret with a stored hash in constant time, also with an undefined hash. */
export function isManagementSecret(secret: string, stored: string | undefined): boolean {
  const given = Buffer.from(hashSecret(secret));
  return timingSafeEqual(given, Buffer.from(stored ?? "-".repeat(given.length)));
}
