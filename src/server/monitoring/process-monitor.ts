import { FileDatabase } from "../db/local/file-database.ts";
import type { Database } from "../db/session.ts";
import type { Counts } from "./metrics/counts.ts";
import { Meter } from "./metrics/meter.ts";
import { createReadiness } from "./readiness.ts";
import type { ProcessStatus, RecentRequest } from "./server-status.ts";

/** The figures of one process, as it sends them to the server's main process. */
export type ProcessFigures = Omit<ProcessStatus, "name" | "answers"> & { counts: Counts };

const readinessEveryMs = 2000;
const lagEveryMs = 500;
/** The lag is the longest of this many samples. */
const lagSamples = 20;

/** Begins to measure this process. */
export function monitorProcess(db: Database) {
  const meter = new Meter();
  const started_at = new Date().toISOString();
  const lag = measureLag();
  const queue = db instanceof FileDatabase ? db.queue : undefined;
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null });
  let unready: string | null = null;
  // A query of a database server may cost money. The free space of the disk is reported apart from this.
  const checking =
    queue && setInterval(async () => (unready = (await findUnready())?.message ?? null), readinessEveryMs);
  checking?.unref();
  return {
    meter,
    recentRequests: new RecentRequests(Date.now),
    read(): ProcessFigures {
      const { user, system } = process.cpuUsage();
      return {
        pid: process.pid,
        started_at,
        memory_bytes: readMemory(),
        cpu_seconds: (user + system) / 1e6,
        event_loop_lag_ms: round(lag.longest()),
        in_flight: meter.inFlight,
        writes_waiting: queue?.waiting ?? 0,
        write_wait_ms: round(queue?.waitMs ?? 0),
        unready,
        counts: meter.read(),
      };
    },
    stop() {
      lag.stop();
      clearInterval(checking);
    },
  };
}

/** Resident bytes; 0 while no file descriptor is left, because the engine reads them from a file. */
function readMemory(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** A timer fires late by as long as the event loop was blocked. */
function measureLag() {
  const samples = new Array<number>(lagSamples).fill(0);
  let next = 0;
  let expected = performance.now() + lagEveryMs;
  const timer = setInterval(() => {
    const now = performance.now();
    samples[next++ % lagSamples] = Math.max(0, now - expected);
    expected = now + lagEveryMs;
  }, lagEveryMs);
  timer.unref();
  return { longest: () => Math.max(...samples), stop: () => clearInterval(timer) };
}

const keptMs = 60_000;
/** Anyone may send such requests, so only this many are kept. */
const maxKept = 100;

/** Keeps the last requests of `bodega doctor` for a minute. */
export class RecentRequests {
  readonly #now: () => number;
  readonly #kept = new Map<string, { request: RecentRequest; until: number }>();

  /** @param now epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  record(request: RecentRequest): void {
    this.#kept.set(request.request_id, { request, until: this.#now() + keptMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The request with that id; null where none arrived within the last minute. */
  find(requestId: string): RecentRequest | null {
    const found = this.#kept.get(requestId);
    return found !== undefined && found.until > this.#now() ? found.request : null;
  }
}
