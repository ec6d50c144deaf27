import { statSync } from "node:fs";
import { dirname } from "node:path";
import { chownLike, restrictFile } from "../../config/data-dir.ts";

const suffixes = ["", "-wal", "-shm"];

/**
 * Creates a function that closes a database file, its WAL and its index to other accounts. SQLite gives the WAL and its
 * index the mode of the file, also if they exist already.
 * @param leaveModes leaves the present modes of existing files instead, for commands that only read.
 */
export function restrictFileModes(path: string, leaveModes: boolean): () => void {
  const left = new Map(leaveModes ? suffixes.map((suffix) => [suffix, modeOf(path + suffix)]) : []);
  return () => {
    for (const suffix of suffixes) {
      const mode = left.get(suffix);
      // Never adds permissions that were removed meanwhile.
      if (mode !== undefined) restrictFile(path + suffix, mode & (modeOf(path + suffix) ?? 0));
      else {
        restrictFile(path + suffix);
        chownLike(path + suffix, dirname(path));
      }
    }
  };
}

/** Which files of a database their owner may not read and write. */
export function findClosed(path: string): string[] {
  return suffixes.map((suffix) => path + suffix).filter((file) => ((modeOf(file) ?? 0o600) & 0o600) !== 0o600);
}

function modeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && stats.mode & 0o777;
}
