import type { Ctx } from "../../context.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { Resource } from "../resources/registry.ts";

const maxAgent = 512;
/** 128 bits in base64. */
const keyLength = 22;

const keys = new WeakMap<Vault, { day: string; hasher: Bun.CryptoHasher }>();

export function dayOf(epochMs: number): string {
  return toTimestamp(epochMs).slice(0, 10);
}

/**
 * Returns the dedup key of a view, a keyed hash. A view counts once a day per key. The hash's own key changes each day
 * and is stored nowhere. Errors: unavailable at a server without the database's key.
 * @param actorId the user or visitor; null for a caller known only by address and agent.
 */
export function dedupKeyOf(ctx: Ctx, { type, id }: Resource, day: string, actorId: string | null): string {
  const { ip = null, userAgent } = ctx.client ?? {};
  // An IPv4 address is its own group.
  const group = ip?.includes(":") ? addressGroup(ip) : ip;
  const viewer = actorId ?? `${group ?? ""}\n${userAgent?.slice(0, maxAgent) ?? ""}`;
  const hasher = hasherOf(ctx.vault, day).copy();
  return hasher.update(`${ctx.tenant.id}\n${type}\n${id}\n${viewer}`).digest("base64").slice(0, keyLength);
}

function hasherOf(vault: Vault, day: string): Bun.CryptoHasher {
  const kept = keys.get(vault);
  if (kept?.day === day) return kept.hasher;
  const hasher = new Bun.CryptoHasher("sha256", Buffer.from(vault.mac("view", day), "hex"));
  keys.set(vault, { day, hasher });
  return hasher;
}
