import type { Database } from "../db/session.ts";

/** Beside a file a look costs microseconds; elsewhere it is a round trip. With jitter up to twice as long. */
const everyMs = { file: 250, elsewhere: 2000 };
/** After the database could not answer. */
const restMs = 5000;
/** What is being sent when the server stops may take as long. */
const graceMs = 5000;

/** How long what was broken off may take to note it. */
const lastNoteMs = 1000;

/** What sends from a table of the database. */
export interface Sender {
  /** Begins to send what is due, and settles once it has looked. */
  look(): Promise<unknown>;
  /** Gives what is being sent so many milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/** One that first makes the deliveries of what is new, and sends by turns. */
export interface DeliverySender extends Sender {
  /**
   * Makes new deliveries and begins to send what is due; whatever is due then goes out by turns.
   * @throws unavailable when the database cannot serve, or could not since the last look; what was taken is tried
   * again later.
   */
  look(): Promise<void>;
  /**
   * The same, until nothing is being sent and nothing waits for its deliveries.
   * @returns how many attempts were made meanwhile.
   */
  runDue(): Promise<number>;
  /** Takes nothing more, waits for what is being sent, and breaks off what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Looks again and again for what is due, for as long as a server runs, without waiting for what is being sent: one that is
 * slow must not hold up the next. Any number of servers may do so beside one another.
 * @param onFailure told once each time that the database begins not to answer.
 */
export function startPolling(db: Database, sender: Sender, onFailure: () => void): { stop(): Promise<void> } {
  const pauseMs = db.kind === "file" || db.kind === "memory" ? everyMs.file : everyMs.elsewhere;
  let isStopping = false;
  let isFailing = false;
  let timer: ReturnType<typeof setTimeout>;

  function look(): void {
    sender.look().then(
      () => {
        isFailing = false;
      },
      () => {
        if (!isFailing) onFailure();
        isFailing = true;
      },
    );
    if (!isStopping) timer = setTimeout(look, isFailing ? restMs : pauseMs * (1 + Math.random()));
  }

  look();
  return {
    stop() {
      isStopping = true;
      clearTimeout(timer);
      return sender.stop(graceMs);
    },
  };
}

/**
 * Waits until nothing is being sent any more, also of what was taken just before; what takes longer than `timeoutMs` is
 * broken off, and left to itself a second later.
 * @param pending what is being sent now.
 */
export async function drainWithin(
  timeoutMs: number,
  pending: () => readonly Promise<unknown>[],
  breakOff: () => void,
): Promise<void> {
  const halting = setTimeout(breakOff, timeoutMs);
  const given = Promise.withResolvers<void>();
  const leaving = setTimeout(given.resolve, timeoutMs + lastNoteMs);
  const drain = async () => {
    for (let left = pending(); left.length > 0; left = pending()) await Promise.allSettled(left);
  };
  await Promise.race([drain(), given.promise]);
  clearTimeout(halting);
  clearTimeout(leaving);
}
