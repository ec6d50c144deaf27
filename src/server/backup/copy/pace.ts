/** Spreads writing out over time. */
export interface Pacer {
  /** @param sync sends what has been written to the disk. */
  wrote(bytes: number, sync: () => Promise<void>): Promise<void>;
}

/** What goes to the disk in one go: small enough that a commit which waits behind it hardly feels it. */
const portionBytes = 1 << 20;
/** For how long the disk and the processor belong to the others, compared with the time that a portion took. */
const restShare = 3;
const leastRestMs = 5;
const maxRestMs = 50;

/**
 * Makes a pacer: after each portion what was written goes to the disk, and then there is a rest. Otherwise the system
 * gathers hundreds of megabytes and sends them at once, and every commit on that disk waits until they are through.
 */
export function createPacer(signal: AbortSignal): Pacer {
  let waiting = 0;
  let begun = performance.now();
  return {
    async wrote(bytes, sync) {
      waiting += bytes;
      signal.throwIfAborted();
      if (waiting < portionBytes) return;
      await sync();
      const took = performance.now() - begun;
      await Bun.sleep(Math.min(maxRestMs, Math.max(leastRestMs, took * restShare)));
      waiting = 0;
      begun = performance.now();
    },
  };
}
