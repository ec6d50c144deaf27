/** A process that stood still for this long, such as on a suspended machine, may have been replaced meanwhile. */
const suspendedMs = 2000;
/** Within this time after that, a replicated server has asked whether another one took over. */
const askingMs = 2000;

/** Returns a function that says whether this process stood still a moment ago. */
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
