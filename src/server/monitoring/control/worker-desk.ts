import { addCounts, type Counts } from "../metrics/counts.ts";
import type { ProcessFigures } from "../metrics/process-figures.ts";
import { createExchange, type Exchange, type Question } from "./exchange.ts";
import type { SeenRequest } from "./status.ts";

/** One that hangs does not hold up the answer about the others for longer. */
const workerTimeoutMs = 500;

/** How the process that speaks for all hears of one worker. */
export interface WorkerLine {
  /** Takes what the worker has sent. */
  take(message: unknown): void;
  /** Says that it has ended; what it had counted stays counted. */
  leave(): void;
}

/** What is known of one place among the workers. */
export interface PlaceFigures {
  place: number;
  figures: ProcessFigures;
  answers: boolean;
}

interface Seat {
  place: number;
  pid: number | undefined;
  /** Looks since it was heard; undefined until it is heard for the first time. */
  silentLooks: number | undefined;
  exchange: Exchange;
  last: ProcessFigures | undefined;
}

/** So many looks without a word, and a worker is said to hang. */
const silentLooks = 3;

/** Where a server hears of its workers. */
export interface WorkerDesk {
  /** How many workers there are. */
  size(): number;
  /** What each of them answers; undefined of one that does not. */
  askAll(question: Question, timeoutMs: number): Promise<unknown[]>;
  /**
   * To be called as often as workers report by themselves: says once of a worker that it hangs, and when it is back. Looks
   * are counted, and not time, which goes on while the machine sleeps.
   */
  look(): void;
  /** Names a worker that has been started in a place; those after it in the same place continue its counts. */
  join(place: number, send: (message: unknown) => void, pid?: number): WorkerLine;
  /** What the workers say now; of one that does not answer, what it said last. */
  read(): Promise<PlaceFigures[]>;
  /** What those have counted that have ended. */
  departed(): Counts;
  /** Looks for a call that any of them has seen. */
  findSeen(requestId: string): Promise<SeenRequest | null>;
}

/**
 * @param answer what workers may ask of the server.
 * @param timeoutMs how long a worker is waited for.
 * @param notice hears of workers that hang.
 */
export function createWorkerDesk(
  answer: (question: Question) => unknown,
  timeoutMs = workerTimeoutMs,
  notice: (level: "info" | "warn", message: string) => void = () => {},
): WorkerDesk {
  const seats = new Set<Seat>();
  let departed: Counts = { routes: [], tenants: [] };
  const cpuBefore = new Map<number, number>();

  const nameOf = ({ place, pid }: Seat) => `worker ${place}${pid === undefined ? "" : ` (process ${pid})`}`;

  function hear(seat: Seat): void {
    if ((seat.silentLooks ?? 0) >= silentLooks) notice("info", `${nameOf(seat)} answers again`);
    seat.silentLooks = 0;
  }

  return {
    size: () => seats.size,
    askAll: (question, within) => Promise.all([...seats].map(({ exchange }) => exchange.ask(question, within))),
    look() {
      for (const seat of seats) {
        if (seat.silentLooks === undefined) continue;
        seat.silentLooks += 1;
        if (seat.silentLooks === silentLooks)
          notice("warn", `${nameOf(seat)} hangs, or has too much to do: nothing was heard of it for several seconds`);
      }
    },
    join(place, send, pid) {
      const exchange = createExchange({ send, answer, onTold: (value) => keep(seat, value) });
      const seat: Seat = { place, pid, silentLooks: undefined, exchange, last: undefined };
      seats.add(seat);
      return {
        take(message) {
          hear(seat);
          exchange.take(message);
        },
        leave() {
          if (!seats.delete(seat) || seat.last === undefined) return;
          departed = addCounts([departed, seat.last.counts]);
          cpuBefore.set(place, (cpuBefore.get(place) ?? 0) + seat.last.cpuSeconds);
        },
      };
    },
    async read() {
      const asked = [...seats].map(async (seat) => {
        const now = await seat.exchange.ask({ what: "figures" }, timeoutMs);
        keep(seat, now);
        return { seat, answers: now !== undefined };
      });
      const known = (await Promise.all(asked)).toSorted((a, b) => a.seat.place - b.seat.place);
      return known.flatMap(({ seat, answers }) => {
        // One that left while others were asked stands among the departed by now.
        if (seat.last === undefined || !seats.has(seat)) return [];
        const cpuSeconds = seat.last.cpuSeconds + (cpuBefore.get(seat.place) ?? 0);
        return [{ place: seat.place, figures: { ...seat.last, cpuSeconds }, answers }];
      });
    },
    departed: () => departed,
    async findSeen(requestId) {
      const asked = [...seats].map((seat) => seat.exchange.ask({ what: "seen", requestId }, timeoutMs));
      return ((await Promise.all(asked)).find(Boolean) as SeenRequest | undefined) ?? null;
    },
  };
}

function keep(seat: Seat, value: unknown): void {
  if (typeof value === "object" && value !== null && "counts" in value) seat.last = value as ProcessFigures;
}
