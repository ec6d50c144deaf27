/** An app key as the terminal prints it: never with its secret or a hash of it. */
export interface AppKey {
  app_id: string;
  namespace: string;
  name: string;
  scopes: string[];
  active: boolean;
  published: boolean;
  origins: string[];
  enforce_origins: boolean;
  allow_no_origin: boolean;
  created_at: string;
}

/** A key at the one moment that its secret is known: when it is issued or rotated. */
export type IssuedAppKey = AppKey & { app_secret: string };

/** A key with what only a look at it needs. */
export interface AppKeyDetails extends AppKey {
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  /** The secrets that are valid or will be swept, newest first. */
  secrets: KeySecret[];
}

/** What is told of a secret, which itself is nowhere. */
export interface KeySecret {
  created_at: string;
  /** Null: until the key is rotated. */
  expires_at: string | null;
  /** Noted at most once a minute. */
  last_used_at: string | null;
  /** Whether an old one can be ended without harm, as far as can be seen; null for the newest. */
  may_go: boolean | null;
}
