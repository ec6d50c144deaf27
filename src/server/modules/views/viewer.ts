import type { Ctx } from "../../context.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { Resource } from "../resources/registry.ts";

/** Of what a program says it is, as much counts. */
const maxAgent = 512;
/** As many characters of a hash in base64 are 128 bits. */
const markLength = 22;

const keys = new WeakMap<Vault, { day: string; hasher: Bun.CryptoHasher }>();

/** The day of a moment in UTC, `2026-03-01`. */
export function dayOf(epochMs: number): string {
  return toTimestamp(epochMs).slice(0, 10);
}

/**
 * What stands for one view of a resource on a day, so that it is counted once: a keyed hash, whose key is another each day
 * and is kept nowhere.
 * @param actorId the user or visitor; null for whoever calls from this address with this agent.
 * @throws unavailable at a server without the database's key.
 */
export function markView(ctx: Ctx, { type, id }: Resource, day: string, actorId: string | null): string {
  const viewer = actorId ?? strangerOf(ctx);
  const hasher = hasherOf(ctx.vault, day).copy();
  return hasher.update(`${ctx.tenant.id}\n${type}\n${id}\n${viewer}`).digest("base64").slice(0, markLength);
}

function strangerOf({ clientIp, userAgent }: Ctx): string {
  // An IPv4 address is its own group.
  const group = clientIp?.includes(":") ? addressGroup(clientIp) : clientIp;
  return `${group ?? ""}\n${userAgent?.slice(0, maxAgent) ?? ""}`;
}

function hasherOf(vault: Vault, day: string): Bun.CryptoHasher {
  const kept = keys.get(vault);
  if (kept?.day === day) return kept.hasher;
  const hasher = new Bun.CryptoHasher("sha256", Buffer.from(vault.mac("view", day), "hex"));
  keys.set(vault, { day, hasher });
  return hasher;
}
