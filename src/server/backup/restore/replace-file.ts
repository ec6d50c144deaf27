import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveToOwner } from "../../config/data-dir.ts";
import { isDamaged } from "../../db/db-errors.ts";
import { foldLog, holdsLog, removeLog } from "../../db/local/merge-wal.ts";
import { syncFile } from "../../db/local/sync-file.ts";
import { makeBackupsFolder } from "../store/place.ts";

/** What is put in place of what. */
export interface Replacement {
  dataDir: string;
  /** The database's file, behind any link. */
  path: string;
  /** What takes its place: one file without a log, on the same disk. */
  newPath: string;
  now: Date;
  /** Awaited when nothing but the swap is left; where it throws, everything stands as it was. */
  beforeSwap?: () => Promise<void>;
}

/**
 * Replaces the database file while nobody has it open, and keeps what was there beside the backups. A step each, so that
 * a test can end the process between any two: up to the last but one the old database stands, whole, and then the new one.
 * @returns the path under which the old one is kept; null where there was none.
 */
export async function* replaceFile({
  dataDir,
  path,
  newPath,
  now,
  beforeSwap,
}: Replacement): AsyncGenerator<string, string | null> {
  giveToOwner(newPath, existsSync(path) ? path : dataDir);
  syncFile(newPath);
  yield "the new file is on disk";
  let kept: string | null = null;
  if (existsSync(path)) {
    dropOldLinks(dataDir, path);
    await foldIfSound(path);
    yield "the old log is in the old file";
    kept = join(makeBackupsFolder(dataDir), `before-restore-${now.toISOString().replace(/[-:]/g, "")}.db`);
    linkOrCopy(path, kept);
    if (holdsLog(path)) linkOrCopy(`${path}-wal`, `${kept}-wal`);
    syncFile(dirname(kept));
    yield "the old file is kept";
  }
  try {
    await beforeSwap?.();
  } catch (error) {
    if (kept !== null) for (const suffix of ["", "-wal"]) rmSync(kept + suffix, { force: true });
    throw error;
  }
  // A log that stays would be taken for the new file's. It is empty, or that of a file which could not be read any more.
  removeLog(path);
  syncFile(dirname(path));
  yield "the old log is gone";
  renameSync(newPath, path);
  yield "the new file is in place";
  syncFile(dirname(path));
  return kept;
}

/** A damaged file keeps its log. */
async function foldIfSound(path: string): Promise<void> {
  try {
    await foldLog(path);
  } catch (error) {
    if (!isDamaged(error)) throw error;
  }
}

/** A second name that a restore which was cut short has left: nothing is kept under it, since this file is written on. */
function dropOldLinks(dataDir: string, path: string): void {
  const { ino, dev, nlink } = statSync(path);
  if (nlink === 1) return;
  const folder = makeBackupsFolder(dataDir);
  for (const name of readdirSync(folder).filter((one) => one.startsWith("before-restore-"))) {
    const found = statSync(join(folder, name));
    if (found.ino === ino && found.dev === dev) rmSync(join(folder, name));
  }
}

/** A second name for the same file costs nothing; where the folder is on another disk it is copied. */
function linkOrCopy(path: string, target: string): void {
  try {
    linkSync(path, target);
  } catch {
    const partial = `${target}.partial`;
    copyFileSync(path, partial);
    giveToOwner(partial, path);
    syncFile(partial);
    renameSync(partial, target);
  }
}
