import type { AppKeyDetails } from "./model.ts";

/** States of a key, the first that applies; only a published key can be used. */
export const keyStates = ["revoked", "expired", "inactive", "unpublished", "published"] as const;
export type KeyState = (typeof keyStates)[number];

/** The state of a key at a time in epoch milliseconds. */
export function keyState(key: AppKeyDetails, now: number): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}

/** Filter of a store's keys; a key must match all of it. */
export interface KeyFilter {
  namespace: string;
  state?: KeyState | undefined;
  /** Part of the name, ignoring case. */
  name?: string | undefined;
  /** Expires within this many milliseconds, has not expired yet, and is not revoked. */
  expiringMs?: number | undefined;
  /** A scope that the key has, or a family such as `orders:*`. */
  scope?: string | undefined;
}

/** Whether a key matches; `scopes` are those of the filter, families expanded. */
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
