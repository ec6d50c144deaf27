import type { KeySecret } from "./model.ts";

type StoredSecret = Omit<KeySecret, "may_go">;

const dayMs = 86_400_000;
/** A use is recorded at most once a minute, so a secret just used may look unused for that long. */
const unnoticedMs = 120_000;

/**
 * The secrets of a key, newest first, each with whether it can be retired: null for the newest. An older one can be
 * retired once the newest is in use, and it was not used since that was made, or not for a day.
 */
export function describeSecrets(secrets: readonly StoredSecret[], now: number): KeySecret[] {
  const [newest] = secrets;
  return secrets.map((secret) => ({ ...secret, may_go: secret === newest ? null : mayGo(secret, newest, now) }));
}

function mayGo(old: StoredSecret, newest: StoredSecret | undefined, now: number): boolean {
  if (old.expires_at !== null && Date.parse(old.expires_at) <= now) return true;
  if (!newest?.last_used_at) return false;
  if (old.last_used_at === null) return true;
  if (now - Date.parse(old.last_used_at) >= dayMs) return true;
  const isUnused = old.last_used_at < newest.created_at;
  return isUnused && now - Date.parse(newest.created_at) >= unnoticedMs;
}
