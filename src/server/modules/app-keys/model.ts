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

/** A key with its secret, as issue and rotate answer it. */
export type IssuedAppKey = AppKey & { app_secret: string };

/** A key with its details. */
export interface AppKeyDetails extends AppKey {
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  /** The secrets that are valid or not yet purged, newest first. */
  secrets: KeySecret[];
}

/** A secret of a key, without the secret itself. */
export interface KeySecret {
  created_at: string;
  /** Null until the key is rotated. */
  expires_at: string | null;
  /** Recorded at most once a minute. */
  last_used_at: string | null;
  /** Whether an old secret can be retired without harm, as far as known; null for the newest. */
  may_go: boolean | null;
}
