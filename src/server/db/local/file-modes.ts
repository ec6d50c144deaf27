import { statSync } from "node:fs";
import { dirname } from "node:path";
import { chownLike, restrictFile } from "../../config/data-dir.ts";

const suffixes = ["", "-wal", "-shm"];

/**
 * Creates a function that makes a database file, its WAL and its index private. SQLite gives the WAL and its index the
 * mode of the file, even if both exist already.
 * @param leaveModes for commands that only read: existing files get back the modes that they have now.
 */
export function restrictFileModes(path: string, leaveModes: boolean): () => void {
  const left = new Map(leaveModes ? suffixes.map((suffix) => [suffix, modeOf(path + suffix)]) : []);
  return () => {
    for (const suffix of suffixes) {
      const mode = left.get(suffix);
      // Permissions that somebody has removed meanwhile are not restored.
      if (mode !== undefined) restrictFile(path + suffix, mode & (modeOf(path + suffix) ?? 0));
      else {
        restrictFile(path + suffix);
        chownLike(path + suffix, dirname(path));
      }
    }
  };
}

/** Lists the files of a database that their owner may not read and write. */
export function findClosed(path: string): string[] {
  return suffixes.map((suffix) => path + suffix).filter((file) => ((modeOf(file) ?? 0o600) & 0o600) !== 0o600);
}

function modeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && stats.mode & 0o777;
}
