import type { LogWriter } from "../logging/logger.ts";
import { lastWritesMs } from "../modules/views/view-buffer.ts";

/** A second signal within this time is not counted, because npm and supervisors forward the first signal again. */
const echoMs = 500;
export const graceMs = 10_000;
/** This long after `graceMs`, the process ends even if something hangs. */
const hardExitMs = lastWritesMs + 5000;
export const lastLinesMs = 1000;
export const lastStopMs = graceMs + hardExitMs + lastLinesMs;

/**
 * Resolves with the first signal to stop. A second signal ends the process at once. A worker may get a signal from its
 * parent, the terminal and a supervisor, so it obeys only its first SIGTERM, and the end of its parent.
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

/** Ends the process if the stop takes too long, for example because a mail server or file system hangs. */
export function limitShutdown(log: LogWriter): void {
  const cut = async () => {
    log.notice("error", "the shutdown takes too long; unfinished work is abandoned");
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
    process.exit(1);
  };
  setTimeout(() => void cut(), graceMs + hardExitMs).unref();
}
