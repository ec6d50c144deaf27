import type { Ctx } from "../../context.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Resource } from "../resources/registry.ts";

const maxAgent = 512;
/** 128 bits in hex. */
const keyLength = 32;

export function dayOf(epochMs: number): string {
  return toTimestamp(epochMs).slice(0, 10);
}

/**
 * Returns the dedup key of a view, a keyed hash. A view counts once a day per key. Errors: unavailable at a server without the database's key.
 * @param actorId the user or visitor; null for a caller known only by address and agent.
 */
export function dedupKeyOf(ctx: Ctx, { type, id }: Resource, day: string, actorId: string | null): string {
  const { ip = null, userAgent } = ctx.client ?? {};
  // An IPv4 address is its own group.
  const group = ip?.includes(":") ? addressGroup(ip) : ip;
  const viewer = actorId ?? `${group ?? ""}\n${userAgent?.slice(0, maxAgent) ?? ""}`;
  return ctx.vault.mac("view", `${day}\n${ctx.tenant.id}\n${type}\n${id}\n${viewer}`).slice(0, keyLength);
}
