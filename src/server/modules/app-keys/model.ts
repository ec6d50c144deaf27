export interface StoredSecret {
  created_at: string;
  /** Null until the key is rotated. */
  expires_at: string | null;
  /** Recorded at most once a minute. */
  last_used_at: string | null;
}

export type KeySecret = ReturnType<typeof describeSecrets>[number];

/** States of a key, the first that applies; only a published key can be used. */
export const keyStates = ["revoked", "expired", "inactive", "unpublished", "published"] as const;
export type KeyState = (typeof keyStates)[number];

type Stated = Record<"revoked_at" | "expires_at", string | null> & Record<"active" | "published", boolean>;

export function keyState(key: Stated, now: number): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}

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

/** `scopes` are those of the filter, families expanded. */
export function fitsFilter(
  key: Stated & { name: string; scopes: string[] },
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

const dayMs = 86_400_000;
/** A use is recorded at most once a minute, so a secret just used may look unused for that long. */
const unnoticedMs = 120_000;

/**
 * The secrets of a key, newest first, each with whether it can be retired: null for the newest. An older one can be
 * retired once the newest is in use and the older one has not been used since the newest was made, or for a day.
 */
export function describeSecrets(secrets: readonly StoredSecret[], now: number) {
  const [newest] = secrets;
  return secrets.map((secret) => ({ ...secret, may_go: secret === newest ? null : mayGo(secret, newest, now) }));
}

function mayGo(old: StoredSecret, newest: StoredSecret | undefined, now: number): boolean {
  if (old.expires_at !== null && Date.parse(old.expires_at) <= now) return true;
  if (!newest?.last_used_at) return false;
  if (old.last_used_at === null || now - Date.parse(old.last_used_at) >= dayMs) return true;
  const isUnused = old.last_used_at < newest.created_at;
  return isUnused && now - Date.parse(newest.created_at) >= unnoticedMs;
}
