import type { AppKeyDetails } from "./model.ts";

/** How a key stands, the first that holds: only a published one can be used. */
export const keyStates = ["revoked", "expired", "inactive", "unpublished", "published"] as const;
export type KeyState = (typeof keyStates)[number];

/** How a key stands at this moment, in epoch milliseconds. */
export function keyState(key: AppKeyDetails, now: number): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}

/** Which keys of a store are wanted; all of what is given must hold. */
export interface KeyFilter {
  namespace: string;
  state?: KeyState | undefined;
  /** A part of the name, in any case. */
  name?: string | undefined;
  /** Those that expire within so many milliseconds from now, and have not yet; none that is revoked. */
  expiringMs?: number | undefined;
  /** What the key may do: a scope, or all of a family such as `orders:*`. */
  scope?: string | undefined;
}

/** Whether a key is wanted; `scopes` are those that the filter's stands for. */
export function fitsFilter(
  key: AppKeyDetails,
  { state, name, expiringMs }: KeyFilter,
  scopes: readonly string[],
  now: number,
): boolean {
  if (state !== undefined && keyState(key, now) !== state) return false;
  if (name !== undefined && !key.name.toLowerCase().includes(name.toLowerCase())) return false;
  if (!key.scopes.includes("*") && !scopes.every((scope) => key.scopes.includes(scope))) return false;
  if (expiringMs === undefined) return true;
  const leftMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now;
  return key.revoked_at === null && leftMs > 0 && leftMs <= expiringMs;
}
