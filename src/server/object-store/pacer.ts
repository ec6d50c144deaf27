export type Pacer = ReturnType<typeof createPacer>;

/** Small enough that a commit which waits behind one batch hardly slows down. */
const batchBytes = 1 << 20;
const pauseRatio = 3;
const minPauseMs = 5;
const maxPauseMs = 50;

/** Flushes and pauses regularly, so that commits do not wait for hundreds of collected megabytes. */
export function createPacer(signal: AbortSignal) {
  let waiting = 0;
  let startedAt = performance.now();
  return {
    async wrote(bytes: number, sync: () => Promise<void>) {
      waiting += bytes;
      signal.throwIfAborted();
      if (waiting < batchBytes) return;
      await sync();
      const tookMs = performance.now() - startedAt;
      await Bun.sleep(Math.min(maxPauseMs, Math.max(minPauseMs, tookMs * pauseRatio)));
      waiting = 0;
      startedAt = performance.now();
    },
  };
}
