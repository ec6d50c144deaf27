import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { type Libsql, loadLibsql } from "../../db/local/load-libsql.ts";
import { storageError } from "../../object-store/storage.ts";

const prefix = ".restore-";

/**
 * Creates a directory on the disk of the database, so that a rename can put the new file into place. If the data
 * directory does not exist and may not be created, the system's temporary directory is used. Throws unavailable.
 */
export async function makeRestoreTempDir(dataDir: string, mayCreate: boolean) {
  const beside = dirname(databaseFile(dataDir));
  try {
    if (mayCreate) mkdirSync(beside, { recursive: true, mode: 0o700 });
    const libsql = await loadLibsql();
    await removeStaleRestores(dataDir);
    const path = mkdtempSync(join(existsSync(beside) ? beside : tmpdir(), prefix));
    const lock = lockOf(libsql, path);
    lock.tryExclusive();
    const remove = () => {
      // Removal is retried, because another process that looks for stale directories may create the lock's file again.
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
      lock.close();
    };
    return { path, remove };
  } catch (error) {
    throw storageError(error, beside, "The backup cannot be unpacked in");
  }
}

export async function removeStaleRestores(dataDir: string): Promise<void> {
  const beside = dirname(databaseFile(dataDir));
  const libsql = await loadLibsql();
  const names = existsSync(beside) ? readdirSync(beside) : [];
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(beside, name);
    const lock = lockOf(libsql, path);
    if (lock.tryExclusive()) rmSync(path, { recursive: true, force: true });
    lock.close();
  }
}

/** Each restore holds the lock of its directory while its process lives. */
const lockOf = (libsql: Libsql, path: string) => new FileLock(libsql, join(path, "restore.lock"));
