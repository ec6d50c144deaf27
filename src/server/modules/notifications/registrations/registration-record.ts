import { sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { type AppError, notFound } from "../../../errors.ts";
import { countPublicWrite } from "../../rate-limits/public-writes.ts";
import type { Target } from "../providers/target.ts";
import { pushTopics } from "../table.ts";
import type { Registration } from "./registration-model.ts";

/** What replies show of a registration's row. */
export interface RegistrationRow {
  id: string;
  platform: PushPlatform;
  lang: string | null;
  user_id: string | null;
  created_at: string;
  updated_at: string;
  /** JSON array. */
  topics: string;
}

/** SQL of these columns, of a row `r`. */
export const registrationColumns = sql`r.id, r.platform, r.lang, r.user_id, r.created_at, r.updated_at,
  (select json_group_array(topic) from ${pushTopics} where registration_id = r.id) as topics`;

/** A registration as its own device sees it. */
export function toRegistration(ctx: Ctx, { topics, lang, ...row }: RegistrationRow): Registration {
  return {
    ...row,
    lang: lang ?? ctx.tenant.language,
    topics: parseTopics(topics),
    delivery: deliveryOf(ctx, row.platform),
  };
}

/** The topics of a row, in alphabetical order. */
export function parseTopics(json: string): string[] {
  return (JSON.parse(json) as string[]).toSorted();
}

/** Whether this server can send to a platform. */
export function deliveryOf({ push = defaultPushOptions }: Ctx, platform: PushPlatform): "on" | "off" {
  return push.platforms.includes(platform) ? "on" : "off";
}

/** By which a target is found again, and by which whoever registers it again shows that it is theirs. */
export interface TargetKeys {
  targetKey: string;
  /** Null for tokens: these are secrets by themselves. */
  proofKey: string | null;
}

/** The keyed hashes of a target, which are others in every store. Errors: unavailable without the server's key. */
export function keysOf({ vault, tenant }: Ctx, platform: PushPlatform, target: Target): TargetKeys {
  const hash = (kind: string, ...texts: string[]) => vault.mac("push", [kind, tenant.id, ...texts].join("\n"));
  if ("token" in target) return { targetKey: hash("target", platform, target.token), proofKey: null };
  const { endpoint, keys } = target;
  return { targetKey: hash("target", platform, endpoint), proofKey: hash("proof", keys.p256dh, keys.auth) };
}

/**
 * Counts a write towards the limits of its address and user; whoever holds a key of the store may send for many.
 * @param about what stands for a caller who is no user: the device itself.
 * @throws tooManyRequests.
 */
export async function countDeviceWrite(ctx: Ctx, about: string): Promise<void> {
  await countPublicWrite(ctx, ctx.actor.kind === "user" ? ctx.actor.userId : about);
}

/** The notFound of registrations: unknown, another store's, or not the caller's own. */
export function noSuchRegistration(): AppError {
  return notFound("registration");
}
