import { statSync } from "node:fs";

/**
 * Remembers which file a path names now, or the first that it names later.
 * @returns a function that tells whether it still names that file. Once it does not, what is written goes into a file
 * that nobody will ever open again. A path that cannot be looked at just now says nothing, and counts as unchanged.
 */
export function watchFile(path: string): () => boolean {
  let known: { dev: number; ino: number } | undefined;
  const isSame = () => {
    try {
      const { dev, ino } = statSync(path);
      known ??= { dev, ino };
      return dev === known.dev && ino === known.ino;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return known === undefined || (code !== "ENOENT" && code !== "ENOTDIR");
    }
  };
  isSame();
  return isSame;
}
