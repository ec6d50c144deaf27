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
  secrets: { created_at: string; expires_at: string | null; last_used_at: string | null }[];
}
