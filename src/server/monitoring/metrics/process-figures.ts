import { LocalDatabase } from "../../db/local/local-database.ts";
import type { Database } from "../../db/session.ts";
import { SeenRequests } from "../control/seen.ts";
import type { Counts } from "./counts.ts";
import { Meter } from "./meter.ts";

/** What one process says of itself, as it travels to the process that speaks for all. */
export interface ProcessFigures {
  pid: number;
  startedAt: string;
  memoryBytes: number;
  cpuSeconds: number;
  lagMs: number;
  inFlight: number;
  writesWaiting: number;
  writeWaitMs: number;
  counts: Counts;
}

/** What is watched in one process of a server. */
export interface ProcessWatch {
  meter: Meter;
  seen: SeenRequests;
  read(): ProcessFigures;
  stop(): void;
}

const lagEveryMs = 500;
/** The longest delay of so many looks is told. */
const lagLooks = 20;

/** Begins to watch this process. */
export function watchProcess(db: Database): ProcessWatch {
  const meter = new Meter();
  const startedAt = new Date().toISOString();
  const lag = watchLag();
  const queue = db instanceof LocalDatabase ? db.local.queue : undefined;
  return {
    meter,
    seen: new SeenRequests(Date.now),
    read() {
      const { user, system } = process.cpuUsage();
      return {
        pid: process.pid,
        startedAt,
        memoryBytes: process.memoryUsage.rss(),
        cpuSeconds: (user + system) / 1e6,
        lagMs: lag.longest(),
        inFlight: meter.inFlight,
        writesWaiting: queue?.waiting ?? 0,
        writeWaitMs: queue?.waitMs ?? 0,
        counts: meter.read(),
      };
    },
    stop: lag.stop,
  };
}

/** How late a timer comes is how long the event loop was held up. */
function watchLag() {
  const late = new Array<number>(lagLooks).fill(0);
  let next = 0;
  let due = performance.now() + lagEveryMs;
  const timer = setInterval(() => {
    const now = performance.now();
    late[next++ % lagLooks] = Math.max(0, now - due);
    due = now + lagEveryMs;
  }, lagEveryMs);
  timer.unref();
  return { longest: () => Math.max(...late), stop: () => clearInterval(timer) };
}
