import { peekManifest } from "../container.ts";
import type { BackupStore } from "./store.ts";

/**
 * The backups of one database in a place, oldest first: what has the name of one, and a manifest that names the database.
 * Others may lie there too, of another shop for instance.
 */
export async function listOwnBackups(store: BackupStore, begunAt: string | null): Promise<string[]> {
  const own: string[] = [];
  for (const name of await store.list()) {
    const manifest = await peekManifest(await store.head(name));
    if (manifest?.database.begun_at === begunAt) own.push(name);
  }
  return own;
}

/** Removes the oldest backups of a database, so that `keep` stay; answers the names of those removed. */
export async function pruneBackups(store: BackupStore, begunAt: string | null, keep: number): Promise<string[]> {
  const own = await listOwnBackups(store, begunAt);
  const old = own.slice(0, Math.max(0, own.length - keep));
  for (const name of old) await store.remove(name);
  return old;
}
