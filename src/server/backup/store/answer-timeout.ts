import { Readable } from "node:stream";

/**
 * Waits for a store's answer, and no longer than `maxMs`: one that takes a call and never answers must not hold up every
 * backup that comes after. What was asked goes on unseen.
 * @throws SilenceError; the signal's reason; what the work throws.
 */
export async function answerWithin<T>(work: Promise<T>, maxMs: number, signal?: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const stop = () => over.reject(signal?.reason);
  const timer = setTimeout(() => over.reject(new SilenceError(maxMs)), maxMs);
  signal?.addEventListener("abort", stop);
  work.catch(() => {});
  try {
    signal?.throwIfAborted();
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** What a store that says nothing is broken off with. */
export class SilenceError extends Error {
  constructor(maxMs: number) {
    super(`no answer for ${Math.round(maxMs / 1000)} s`);
  }
}

/**
 * A store's stream that fails when nothing comes for so long while somebody waits for it.
 * @param explain makes the error of what broke it off.
 */
export function readWithin(
  stream: ReadableStream<Uint8Array>,
  maxMs: number,
  explain: (error: unknown) => unknown,
): Readable {
  const reader = stream.getReader();
  return new Readable({
    read() {
      answerWithin(reader.read(), maxMs).then(
        ({ done, value }) => this.push(done ? null : value),
        (error) => this.destroy(explain(error) as Error),
      );
    },
    destroy(error, done) {
      void reader.cancel().catch(() => {});
      done(error);
    },
  });
}
