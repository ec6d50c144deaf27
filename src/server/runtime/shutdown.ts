import type { LogWriter } from "../logging/logger.ts";
import { lastWritesMs } from "../modules/views/gatherer.ts";

/** Within this time, a signal that comes again is the same one: npm and supervisors pass on what the group got already. */
const echoMs = 500;
/** How long requests that have begun may take once the server is asked to stop. */
export const graceMs = 10_000;
/** What is still not done so long after that time is left undone. */
const lastResortMs = lastWritesMs + 5000;
/** A log that nobody reads must not hold up the end for longer. */
export const lastLinesMs = 1000;

/**
 * The first signal that asks to stop; the second ends the process where it stands. A worker hears each signal several
 * times, from its parent, from the terminal or from a supervisor that signals the whole group: there only the first
 * SIGTERM counts, and the parent's end is what ends it at once.
 */
export function nextStopSignal(isWorker: boolean): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const onSignal = (signal: string) => {
      const now = performance.now();
      askedAt ??= now;
      if (!isWorker && now - askedAt > echoMs) process.exit(signal === "SIGINT" ? 130 : 143);
      resolve(signal);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", isWorker ? () => {} : onSignal);
    if (!isWorker) return;
    process.on("disconnect", () => {
      if (askedAt !== undefined) process.exit(143);
      onSignal("disconnect");
    });
  });
}

/** Whatever hangs, a mail server or a file system: a process that stops ends. */
export function endInTime(log: LogWriter): void {
  const cut = async () => {
    log.notice("error", "the end takes too long; what is not done is left");
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
    process.exit(1);
  };
  setTimeout(() => void cut(), graceMs + lastResortMs).unref();
}
