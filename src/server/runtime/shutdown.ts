import type { LogWriter } from "../logging/logger.ts";
import { lastWritesMs } from "../modules/views/view-buffer.ts";

/** A second signal within this time is the first one, forwarded by npm or a supervisor. */
const echoMs = 500;
export const graceMs = 10_000;
/** After this additional time the process ends, even if something hangs. */
const hardExitMs = lastWritesMs + 5000;
export const lastLinesMs = 1000;
export const lastStopMs = graceMs + hardExitMs + lastLinesMs;

/**
 * Resolves at a signal to stop. A second signal ends the process at once. A worker gets each signal several times, from
 * its parent, the terminal or a supervisor, so only its first SIGTERM counts, and it ends with its parent.
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
    // From a terminal, SIGHUP means that the terminal was closed.
    process.on("SIGHUP", process.stdin.isTTY ? onSignal : () => {});
    // Without a listener, the signal would end a server that is still starting.
    process.on("SIGUSR2", () => {});
    if (!isWorker) return;
    process.on("disconnect", () => {
      if (askedAt !== undefined) process.exit(143);
      onSignal("disconnect");
    });
  });
}

/** Ends the process if a hanging mail server or file system delays the stop. */
export function limitShutdown(log: LogWriter): void {
  const cut = async () => {
    log.notice("error", "the shutdown takes too long; unfinished work is abandoned");
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
    process.exit(1);
  };
  setTimeout(() => void cut(), graceMs + hardExitMs).unref();
}
