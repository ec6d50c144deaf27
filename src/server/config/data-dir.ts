import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { errnoOf, unavailable, wrongState } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { quoteWord } from "../values/shell-quote.ts";

/** Creates the data directory, readable by its owner only and ignored by git. Throws unavailable. */
export function makeDataDir(dir: string): void {
  try {
    const isNew = fs.mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined;
    if (isNew) attempt(() => fs.writeFileSync(join(dir, ".gitignore"), "*\n"));
  } catch (cause) {
    throw unavailable(`The data directory ${dir} cannot be created (${errnoOf(cause)}).`, { cause });
  }
}

/** Returns the data directory to start a process in, if it exists. With a libSQL server there may be none. */
export function workingDir(dataDir: string): { cwd?: string } {
  return fs.existsSync(dataDir) ? { cwd: dataDir } : {};
}

/** Removes a file or directory. Ignores errors, because a later write to the path then fails and reports its error. */
export function removeIfPossible(path: string): void {
  attempt(() => fs.rmSync(path, { recursive: true, force: true }));
}

/** Replaces a file by a rename, so nobody reads half of it. Throws unavailable; with `isNew`, also if `path` exists. */
export function writeWhole(dataDir: string, path: string, text: string | Uint8Array, isNew = false): void {
  makeDataDir(dataDir);
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    fs.writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    chownLike(temporary, dataDir);
    if (isNew) fs.linkSync(temporary, path);
    else fs.renameSync(temporary, path);
  } catch (cause) {
    throw unavailable(`${path} cannot be written (${errnoOf(cause)}).`, { cause });
  } finally {
    removeIfPossible(temporary);
  }
}

/** Returns the real path of the database: the WAL and locks of a linked file must be beside the file itself. */
export function databaseFile(dataDir: string): string {
  const path = join(dataDir, "bodega.db");
  return fs.existsSync(path) ? fs.realpathSync(path) : path;
}

export function standbyFile(dataDir: string): string {
  return join(dataDir, "standby.json");
}

/** Returns the path of a standby's copy. Its name differs, so that nothing opens the copy while it is written. */
export function copyFile(dataDir: string): string {
  return join(dataDir, "standby.db");
}

/** Throws wrongState if a data directory contains a standby's copy instead of a database. */
export function refuseStandby(dataDir: string): void {
  if (!fs.existsSync(standbyFile(dataDir))) return;
  const remedy = `To make it the server: bodega standby promote --data-dir ${quoteWord(dataDir)}`;
  throw wrongState(`${dataDir} contains the copy of a standby. Only the standby may change it.`, { remedy });
}

export function restrictFile(path: string, mode = 0o600): void {
  // Failures are ignored: the WAL may not exist yet, and only the owner of a file can change its mode.
  attempt(() => fs.chmodSync(path, mode));
}

/** Gives a file that root has created to the owner of `like`, so that a server with that account can open the file. */
export function chownLike(path: string, like: string): void {
  if (process.getuid?.() !== 0) return;
  // Failures are ignored: the file may not exist yet, or the file system may have no owners.
  attempt(() => {
    const { uid, gid } = fs.statSync(like);
    // Only a file of root gets another owner. Links are not followed.
    if (uid !== 0 && fs.lstatSync(path).uid === 0) fs.lchownSync(path, uid, gid);
  });
}
