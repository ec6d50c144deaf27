import { Semaphore } from "./semaphore.ts";

const turns = new Semaphore({ permits: 1, fullMessage: "Too much work is waiting." });

/**
 * Resolves in a turn of the event loop that no other caller gets. Work of milliseconds waits for it, so that it does not
 * add up, and other requests are served in between.
 * @param party parties take turns, however many callers of each wait.
 * @param signal a caller that it has aborted resolves without a turn, and has nothing to do.
 * @throws unavailable when too many wait.
 */
export function ownTurn(party?: string, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const work = async () => {
      resolve();
      if (signal?.aborted) return;
      await new Promise((next) => setImmediate(next));
    };
    turns.run(work, party).catch(reject);
  });
}

/** How long requests may be worked on in one turn of the event loop, in milliseconds, before further ones wait. */
const budgetMs = 10;
let endsAt: number | undefined;

/** Whether this turn of the event loop was long enough, so that a request that arrived in it must wait for another. */
export function isTurnOver(): boolean {
  const now = performance.now();
  if (endsAt !== undefined) return now > endsAt;
  endsAt = now + budgetMs;
  setImmediate(() => {
    endsAt = undefined;
  });
  return false;
}
