/** After such a standstill, for example of a suspended machine, another server may have taken over. */
const suspendedMs = 2000;
/** Within this time, a replicated server has found out whether another one took over. */
const askingMs = 2000;

/** Returns a function that returns whether this process has just resumed after a standstill. */
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
