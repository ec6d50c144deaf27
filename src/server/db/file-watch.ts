import { statSync } from "node:fs";
import { databaseFile } from "./data-dir.ts";

/**
 * Remembers which file the database of a directory is now.
 * @returns a function that tells whether the path still names that file. Once it does not, what is written goes into a
 * file that nobody will ever open again.
 */
export function watchDatabaseFile(dataDir: string): () => boolean {
  const { dev, ino } = statSync(databaseFile(dataDir));
  return () => {
    try {
      const now = statSync(databaseFile(dataDir));
      return now.dev === dev && now.ino === ino;
    } catch {
      return false;
    }
  };
}
