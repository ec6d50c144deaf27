import { peekManifest } from "./archive.ts";
import type { BackupStorage } from "./storage.ts";

/**
 * Removes the oldest backups of one database, so that `keep` stay. Other files, and backups of other databases, stay.
 * @param begunAt when the database was made, which identifies it.
 * @returns the names of the removed backups.
 */
export async function pruneBackups(storage: BackupStorage, begunAt: string | null, keep: number): Promise<string[]> {
  const own: string[] = [];
  for (const name of await storage.list()) {
    const manifest = await peekManifest(await storage.head(name));
    if (manifest?.database.begun_at === begunAt) own.push(name);
  }
  const old = own.slice(0, Math.max(0, own.length - keep));
  for (const name of old) await storage.remove(name);
  return old;
}
