import { monitorEventLoopDelay } from "node:perf_hooks";
import { FileDatabase } from "../db/local/file-database.ts";
import type { Database } from "../db/session.ts";
import { attempt } from "../values/attempt.ts";
import { LruCache } from "../values/lru-cache.ts";
import { Meter } from "./metrics/meter.ts";
import { createReadiness } from "./readiness.ts";

export type ProcessFigures = ReturnType<ReturnType<typeof monitorProcess>["read"]>;

const readinessEveryMs = 2000;
const lagEveryMs = 500;
const lagKeptMs = 10_000;
const keptRequests = 100;

/** How a request of `/health/live` whose `X-Request-Id` begins with `doctor-` arrived at the server. */
export interface RecentRequest {
  request_id: string;
  at: string;
  peer: string | null;
  client: string | null;
  protocol: "http" | "https";
  host: string | null;
  forwarded: Record<string, string>;
}

export function monitorProcess(db: Database) {
  const meter = new Meter();
  const started_at = new Date().toISOString();
  const lag = monitorEventLoopDelay({ resolution: lagEveryMs });
  lag.enable();
  const forgetting = setInterval(() => lag.reset(), lagKeptMs);
  forgetting.unref();
  const queue = db instanceof FileDatabase ? db.queue : undefined;
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null });
  let unready: string | null = null;
  // The disk is not checked: the status has its free space. A libSQL server is not queried: queries may cost money.
  const checking =
    queue && setInterval(async () => (unready = (await findUnready())?.message ?? null), readinessEveryMs);
  checking?.unref();
  return {
    meter,
    /** The recent requests by request id. Anyone can send such requests, so only the last ones are kept. */
    recentRequests: new LruCache<RecentRequest>(keptRequests),
    read() {
      const { user, system } = process.cpuUsage();
      return {
        /** Null for a worker that ends repeatedly and does not run now. Its figures are 0. */
        pid: process.pid as number | null,
        started_at,
        /** Resident memory; 0 if no file descriptor is free, because the engine reads it from a file. */
        memory_bytes: attempt(() => process.memoryUsage.rss()) ?? 0,
        cpu_seconds: (user + system) / 1e6,
        event_loop_lag_ms: round(lag.max / 1e6),
        in_flight: meter.inFlight,
        writes_waiting: queue?.waiting ?? 0,
        write_wait_ms: round(queue?.waitMs ?? 0),
        /** Why the process was not ready at the last check; null if it was ready, or uses a libSQL server. */
        unready,
        counts: meter.read(),
      };
    },
    stop() {
      lag.disable();
      clearInterval(forgetting);
      clearInterval(checking);
    },
  };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
