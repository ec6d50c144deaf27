import { statSync } from "node:fs";

/**
 * Remembers which file a path names now.
 * @returns a function that tells whether it still names that file. Once it does not, what is written goes into a file
 * that nobody will ever open again. A path that cannot be looked at just now says nothing, and counts as unchanged.
 */
export function watchFile(path: string): () => boolean {
  const { dev, ino } = statSync(path);
  return () => {
    try {
      const now = statSync(path);
      return now.dev === dev && now.ino === ino;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code !== "ENOENT" && code !== "ENOTDIR";
    }
  };
}
