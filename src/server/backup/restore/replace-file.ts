import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { chownLike, copyFile, standbyFile } from "../../config/data-dir.ts";
import { isDamaged } from "../../db/db-errors.ts";
import { hasWal, mergeWal, removeWal } from "../../db/local/merge-wal.ts";
import { copyWhole, syncFile } from "../../db/local/sync-file.ts";
import { makeBackupsFolder } from "../location.ts";

interface Replacement {
  dataDir: string;
  path: string;
  /** The new file. It has no WAL, and is on the same disk as `path`. */
  newPath: string;
  now: Date;
  /** Runs just before the swap. If it throws, nothing has changed. */
  beforeSwap?: () => Promise<void>;
  onStep?: (step: string) => void;
}

/**
 * Replaces the database file while nobody has it open, and returns where the old file is kept. If the process ends at
 * any step, either the old or the new database is intact.
 */
export async function replaceFile(replacement: Replacement): Promise<string | null> {
  const { dataDir, path, newPath, now, beforeSwap, onStep } = replacement;
  const old = existsSync(path) ? path : copyFile(dataDir);
  chownLike(newPath, existsSync(path) ? path : dataDir);
  syncFile(newPath);
  onStep?.("the new file is on disk");
  let kept: string | null = null;
  if (existsSync(old)) {
    // Merges the WAL into the old file. A damaged or empty file keeps its WAL, because the merge would fail.
    if (statSync(old).size > 0) {
      await mergeWal(old).catch((error) => {
        if (!isDamaged(error)) throw error;
      });
    }
    onStep?.("the old WAL is merged");
    kept = join(makeBackupsFolder(dataDir), `before-restore-${now.toISOString().replace(/[-:]/g, "")}.db`);
    if (hasWal(old)) {
      // A damaged or empty database is kept together with its WAL, both as copies instead of links.
      copyWhole(`${old}-wal`, `${kept}-wal`);
      copyWhole(old, kept);
    } else linkOrCopy(old, kept);
    syncFile(dirname(kept));
    onStep?.("the old file is kept");
  }
  try {
    await beforeSwap?.();
  } catch (error) {
    if (kept !== null) for (const suffix of ["", "-wal"]) rmSync(kept + suffix, { force: true });
    throw error;
  }
  // SQLite would apply the old WAL to the new file, so the WAL is removed first.
  removeWal(path);
  // The standby's copy is removed first, because a promotion would put it in the place of the new file.
  rmSync(copyFile(dataDir), { force: true });
  syncFile(dirname(path));
  onStep?.("the old WAL is gone");
  renameSync(newPath, path);
  rmSync(standbyFile(dataDir), { force: true });
  onStep?.("the new file is in place");
  syncFile(dirname(path));
  return kept;
}

function linkOrCopy(path: string, target: string): void {
  try {
    linkSync(path, target);
  } catch {
    copyWhole(path, target);
  }
}
