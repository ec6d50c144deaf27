import type { Database } from "../db/session.ts";
import type { ChannelDeps } from "./channel.ts";

/** A poll of a file costs microseconds; elsewhere it is a round trip. Jitter makes pauses up to twice as long. */
const pauseMs = { file: 250, server: 2000 };
/** The pause after the database could not answer. */
const failurePauseMs = 5000;
/** How long attempts in progress may take when the server stops. */
const graceMs = 5000;

/**
 * Polls for deliveries that are due, for as long as a server runs. It does not wait for attempts in progress, so a slow
 * one does not delay others. Any number of servers may poll one database.
 * @param effect what operators read when the database stops answering: `mail stays queued`.
 */
export function startPolling(
  { db, notice }: ChannelDeps & { db: Database },
  engine: { poll(): Promise<unknown>; stop(graceMs: number): Promise<void> },
  effect: string,
): { stop(): Promise<void> } {
  let isStopping = false;
  let isFailing = false;
  let timer: ReturnType<typeof setTimeout>;

  async function poll(): Promise<void> {
    try {
      await engine.poll();
      isFailing = false;
    } catch {
      if (!isFailing) notice?.("warn", `the database does not answer; ${effect}`);
      isFailing = true;
    }
    if (!isStopping) timer = setTimeout(poll, isFailing ? failurePauseMs : pauseMs[db.kind] * (1 + Math.random()));
  }

  void poll();
  return {
    stop() {
      isStopping = true;
      clearTimeout(timer);
      return engine.stop(graceMs);
    },
  };
}
