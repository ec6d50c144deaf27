import { statSync } from "node:fs";

/**
 * Remembers which file a path names, now or once there is one.
 * @returns a function that returns whether the path still names that file. If it does not, writes go into a file that
 * nobody will open again. A path that cannot be checked for the moment counts as unchanged.
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
