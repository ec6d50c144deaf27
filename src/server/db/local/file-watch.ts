import { statSync } from "node:fs";
import { errnoOf } from "../../errors.ts";

/**
 * Records which file a path names, now or once it exists.
 * @returns a function that returns whether the path still names that file. If it does not, writes to the file get lost.
 * If the path cannot be checked, the function returns true.
 */
export function watchFile(path: string): () => boolean {
  let known: { dev: number; ino: number } | undefined;
  const isSame = () => {
    try {
      const { dev, ino } = statSync(path);
      known ??= { dev, ino };
      return dev === known.dev && ino === known.ino;
    } catch (error) {
      return known === undefined || !["ENOENT", "ENOTDIR"].includes(errnoOf(error));
    }
  };
  isSame();
  return isSame;
}

/** If the process did not run for this long, as on a suspended machine, a standby may have taken over. */
const suspendedMs = 2000;
/** A resumed server needs at most this long to find out whether a standby has taken over. */
const askingMs = 2000;

/** Returns a function that returns whether this process has just resumed after a suspension. */
export function watchSuspension(): () => boolean {
  let runningAt = Date.now();
  let asksUntil = 0;
  const hasJustResumed = () => {
    const now = Date.now();
    if (now - runningAt > suspendedMs) asksUntil = now + askingMs;
    runningAt = now;
    return now < asksUntil;
  };
  setInterval(hasJustResumed, 500).unref();
  return hasJustResumed;
}
