export interface StoredSecret {
  created_at: string;
  /** Null until the key is rotated. */
  expires_at: string | null;
  /** Recorded at most once a minute. */
  last_used_at: string | null;
}

/** States of a key. If several apply, the key has the first. Only a published key can be used. */
export const keyStates = ["revoked", "expired", "inactive", "unpublished", "published"] as const;
export type KeyState = (typeof keyStates)[number];

type Stated = Record<"revoked_at" | "expires_at", string | null> & Record<"active" | "published", boolean>;

export function keyState(key: Stated, now: number): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}

/** Whether the old secret was used after the newest one was created, or the newest one was never used. */
export function isInUse(old: StoredSecret, newest: StoredSecret): boolean {
  return newest.last_used_at === null || (old.last_used_at !== null && old.last_used_at >= newest.created_at);
}
