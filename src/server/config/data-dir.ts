import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "../errors.ts";

/** Creates the data directory, readable by its owner only. Errors: unavailable when that is impossible. */
export function makeDataDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unavailable(`The data directory ${dir} cannot be created.`, { cause });
  }
}

/**
 * Where the database of a data directory really lies. Behind a link, its log and all locks must stand beside the file
 * itself: two directories that link to one file share it.
 */
export function databaseFile(dataDir: string): string {
  const path = join(dataDir, "bodega.db");
  return existsSync(path) ? realpathSync(path) : path;
}

/** Takes a file from everyone but its owner, or gives it another mode, where it exists and is ours to change. */
export function restrictFile(path: string, mode = 0o600): void {
  try {
    chmodSync(path, mode);
  } catch {
    // The log may not exist yet, and a file of another owner keeps the mode that this owner chose.
  }
}

/**
 * Gives what the superuser has made to whoever owns the place it is made in: a server under an account of its own could
 * not open it otherwise. Every other account leaves it as it is.
 * @param like a file or folder of the right owner.
 */
export function giveToOwner(path: string, like: string): void {
  if (process.getuid?.() !== 0) return;
  try {
    const { uid, gid } = statSync(like);
    // What belongs to somebody already is as its owner wants it; and a link that the owner puts there leads nowhere.
    if (uid !== 0 && lstatSync(path).uid === 0) lchownSync(path, uid, gid);
  } catch {
    // It is not there yet, or on a file system without owners, where nobody is kept out.
  }
}
