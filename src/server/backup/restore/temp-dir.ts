import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { storageError } from "../../object-store/storage.ts";

const prefix = ".restore-";

/**
 * Creates a directory on the disk of the database, so that a rename can put the new file into place. If the data
 * directory does not exist and may not be created, the system's temporary directory is used. Throws unavailable.
 */
export async function makeRestoreTempDir(dataDir: string, mayCreate: boolean) {
  const beside = dirname(databaseFile(dataDir));
  let lock: FileLock | undefined;
  try {
    if (mayCreate) mkdirSync(beside, { recursive: true, mode: 0o700 });
    const isBeside = existsSync(beside);
    if (isBeside) {
      accessSync(beside, constants.W_OK);
      await removeStaleRestores(dataDir);
      lock = await openLock(beside);
      while (!lock.tryShared()) await Bun.sleep(10);
    }
    const path = mkdtempSync(join(isBeside ? beside : tmpdir(), prefix));
    const remove = () => {
      rmSync(path, { recursive: true, force: true });
      lock?.close();
    };
    return { path, remove };
  } catch (error) {
    throw storageError(error, beside, "The backup cannot be unpacked in");
  }
}

export async function removeStaleRestores(dataDir: string): Promise<void> {
  const beside = dirname(databaseFile(dataDir));
  if (listStale(beside).length === 0) return;
  const lock = await openLock(beside);
  try {
    if (!lock.tryExclusive()) return;
    for (const path of listStale(beside)) rmSync(path, { recursive: true, force: true });
  } finally {
    lock.close();
  }
}

function listStale(beside: string): string[] {
  const names = existsSync(beside) ? readdirSync(beside) : [];
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(beside, name));
}

/** Each restore shares this lock while its process lives. */
async function openLock(beside: string): Promise<FileLock> {
  return new FileLock(await loadLibsql(), join(beside, "restore.lock"));
}
