import { statSync } from "node:fs";

/**
 * Records which file a path names, now or once it exists.
 * @returns a function that returns whether the path still names that file. If not, nobody can read later writes. If the
 * path cannot be checked, the answer is true.
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
