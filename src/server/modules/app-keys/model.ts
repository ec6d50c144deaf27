export interface StoredSecret {
  created_at: string;
  /** Null for the newest secret: only older secrets expire. */
  expires_at: string | null;
  /** When the secret was last used; recorded at most once a minute. */
  last_used_at: string | null;
}

/** States of a key. If several apply, the first in this list counts. Only keys in the state `published` can be used. */
export const keyStates = ["revoked", "expired", "inactive", "unpublished", "published"] as const;
export type KeyState = (typeof keyStates)[number];

type Stated = Record<"revoked_at" | "expires_at", string | null> & Record<"active" | "published", boolean>;

export function keyState(key: Stated, now: number): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}
