import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { placeError } from "../store/place.ts";

const beginning = ".restore-";

/** A folder that a backup is unpacked into. */
export interface TakingFolder {
  path: string;
  /** Takes it away with all that is in it; never throws for one that has gone. */
  remove(): void;
}

/**
 * Makes the folder that a backup is unpacked into: beside the database, so that it can take that one's place at once; for
 * a data directory that is not there yet, in the system's temporary folder, unless it may be made. What restores that
 * were killed have left there goes first: each is as large as a database.
 * @throws unavailable when that is impossible.
 */
export async function makeTakingFolder(dataDir: string, mayMake: boolean): Promise<TakingFolder> {
  const beside = dirname(databaseFile(dataDir));
  try {
    if (mayMake) mkdirSync(beside, { recursive: true, mode: 0o700 });
    if (!existsSync(beside)) return openFolder(mkdtempSync(join(tmpdir(), beginning)));
    accessSync(beside, constants.W_OK);
    await removeStaleFolders(dataDir);
    const lock = await openLock(beside);
    while (!lock.tryShared()) await Bun.sleep(10);
    return openFolder(mkdtempSync(join(beside, beginning)), lock);
  } catch (error) {
    throw placeError(error, beside, "The backup cannot be unpacked in");
  }
}

/** Takes away what restores that were killed have left beside the database, unless one is at work there now. */
export async function removeStaleFolders(dataDir: string): Promise<void> {
  const beside = dirname(databaseFile(dataDir));
  const list = () => readdirSync(beside).filter((name) => name.startsWith(beginning));
  if (!existsSync(beside) || list().length === 0) return;
  const lock = await openLock(beside);
  try {
    if (!lock.tryExclusive()) return;
    for (const name of list()) rmSync(join(beside, name), { recursive: true, force: true });
  } finally {
    lock.close();
  }
}

/** Whoever has such a folder shares it, for as long as its process lives. */
async function openLock(beside: string): Promise<FileLock> {
  return new FileLock(await loadLibsql(), join(beside, "restore.lock"));
}

function openFolder(path: string, lock?: FileLock): TakingFolder {
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      lock?.close();
    },
  };
}
