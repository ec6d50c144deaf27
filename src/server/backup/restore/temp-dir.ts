import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { storageError } from "../storage.ts";

const prefix = ".restore-";

/** The folder that a backup is unpacked into. */
interface RestoreTempDir {
  path: string;
  /** Removes it with its content. */
  remove(): void;
}

/**
 * Creates the folder beside the database, so that renaming can put the new file into place. For a data directory that
 * does not exist and may not be created, it is in the system's temporary folder. Folders of killed restores are removed.
 * @throws unavailable when that is impossible.
 */
export async function makeRestoreTempDir(dataDir: string, mayCreate: boolean): Promise<RestoreTempDir> {
  const beside = dirname(databaseFile(dataDir));
  try {
    if (mayCreate) mkdirSync(beside, { recursive: true, mode: 0o700 });
    if (!existsSync(beside)) return describeTempDir(mkdtempSync(join(tmpdir(), prefix)));
    accessSync(beside, constants.W_OK);
    await removeStaleTempDirs(dataDir);
    const lock = await openLock(beside);
    while (!lock.tryShared()) await Bun.sleep(10);
    return describeTempDir(mkdtempSync(join(beside, prefix)), lock);
  } catch (error) {
    throw storageError(error, beside, "The backup cannot be unpacked in");
  }
}

/** Removes the folders of killed restores, each as large as a database, unless a restore is running. */
export async function removeStaleTempDirs(dataDir: string): Promise<void> {
  const beside = dirname(databaseFile(dataDir));
  const list = () => readdirSync(beside).filter((name) => name.startsWith(prefix));
  if (!existsSync(beside) || list().length === 0) return;
  const lock = await openLock(beside);
  try {
    if (!lock.tryExclusive()) return;
    for (const name of list()) rmSync(join(beside, name), { recursive: true, force: true });
  } finally {
    lock.close();
  }
}

/** A lock that each restore shares for as long as its process lives. */
async function openLock(beside: string): Promise<FileLock> {
  return new FileLock(await loadLibsql(), join(beside, "restore.lock"));
}

function describeTempDir(path: string, lock?: FileLock): RestoreTempDir {
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      lock?.close();
    },
  };
}
