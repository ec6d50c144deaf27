import { FileDatabase } from "../db/local/file-database.ts";
import type { Database } from "../db/session.ts";
import type { Counts } from "./metrics/counts.ts";
import { Meter } from "./metrics/meter.ts";
import { RecentRequests } from "./recent-requests.ts";

/** The figures of one process, as it sends them to the server's main process. */
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

/** Measures one process of a server. */
export interface ProcessMonitor {
  meter: Meter;
  recentRequests: RecentRequests;
  read(): ProcessFigures;
  stop(): void;
}

const lagEveryMs = 500;
/** The lag is the longest of this many samples. */
const lagSamples = 20;

/** Begins to measure this process. */
export function monitorProcess(db: Database): ProcessMonitor {
  const meter = new Meter();
  const startedAt = new Date().toISOString();
  const lag = measureLag();
  const queue = db instanceof FileDatabase ? db.queue : undefined;
  return {
    meter,
    recentRequests: new RecentRequests(Date.now),
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
