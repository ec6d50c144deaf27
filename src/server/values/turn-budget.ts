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
