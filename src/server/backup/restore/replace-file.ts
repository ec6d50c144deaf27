import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveToOwner } from "../../config/data-dir.ts";
import { isDamaged } from "../../db/db-errors.ts";
import { hasWal, mergeWal, removeWal } from "../../db/local/merge-wal.ts";
import { copyWhole, syncFile } from "../../db/local/sync-file.ts";
import { makeBackupsFolder } from "../location.ts";
import { keptPrefix } from "./temp-dir.ts";

interface Replacement {
  dataDir: string;
  /** The database file, with links resolved. */
  path: string;
  /** The file that replaces it: without a WAL, on the same disk. */
  newPath: string;
  now: Date;
  /** Awaited when only the swap is left; when it throws, nothing has changed. */
  beforeSwap?: () => Promise<void>;
}

/**
 * Replaces the database file while nobody has it open, and keeps the old one with the backups. It yields between its
 * steps; a process that ends at any of them leaves the old database or the new one, whole.
 * @returns where the old file is kept; null where there was none.
 */
export async function* replaceFile(replacement: Replacement): AsyncGenerator<string, string | null> {
  const { dataDir, path, newPath, now, beforeSwap } = replacement;
  giveToOwner(newPath, existsSync(path) ? path : dataDir);
  syncFile(newPath);
  yield "the new file is on disk";
  let kept: string | null = null;
  if (existsSync(path)) {
    // A damaged or empty file keeps its WAL.
    if (statSync(path).size > 0) {
      await mergeWal(path).catch((error) => {
        if (!isDamaged(error)) throw error;
      });
    }
    yield "the old WAL is merged";
    kept = join(makeBackupsFolder(dataDir), `${keptPrefix}${now.toISOString().replace(/[-:]/g, "")}.db`);
    if (hasWal(path)) {
      // Copied, not linked: links of a restore that never swapped are removed, but a damaged database needs its WAL.
      copyWhole(`${path}-wal`, `${kept}-wal`);
      copyWhole(path, kept);
    } else linkOrCopy(path, kept);
    syncFile(dirname(kept));
    yield "the old file is kept";
  }
  try {
    await beforeSwap?.();
  } catch (error) {
    if (kept !== null) for (const suffix of ["", "-wal"]) rmSync(kept + suffix, { force: true });
    throw error;
  }
  // SQLite would apply the old WAL to the new file.
  removeWal(path);
  syncFile(dirname(path));
  yield "the old WAL is gone";
  renameSync(newPath, path);
  yield "the new file is in place";
  syncFile(dirname(path));
  return kept;
}

/** Links the file, which costs nothing; copies it to another disk. */
function linkOrCopy(path: string, target: string): void {
  try {
    linkSync(path, target);
  } catch {
    copyWhole(path, target);
  }
}
