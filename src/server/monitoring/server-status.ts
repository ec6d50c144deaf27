import type { ReplicationStatus } from "../replication/replication-status.ts";
import type { DatabaseFigures } from "./database-figures.ts";

/** Times to answer since the start of the process. Histograms can be added and subtracted. */
export interface LatencyHistogram {
  /** Upper bounds of the buckets in milliseconds, ascending; one more bucket follows for longer times. */
  bounds_ms: readonly number[];
  /** Answers in each bucket, one more than there are bounds; not cumulative. */
  counts: readonly number[];
  sum_ms: number;
}

export interface ProcessStatus {
  /** `main`, or the number of a worker, from `1`. */
  name: string;
  /** Null for a worker that does not run, because it keeps ending; its figures are 0. */
  pid: number | null;
  started_at: string;
  /** False for a worker that does not run or answer now; its figures are the last that it reported. */
  answers: boolean;
  memory_bytes: number;
  /** User and system time. */
  cpu_seconds: number;
  /** The longest delay of its event loop within the last ten seconds. */
  event_loop_lag_ms: number;
  /** API requests that are not answered yet. */
  in_flight: number;
  /** Writes in the queue; 0 with a database server. */
  writes_waiting: number;
  /** How long the first of them has waited, in milliseconds. */
  write_wait_ms: number;
  /** Why it was not ready within the last seconds; null where it was, and with a database server. */
  unready: string | null;
}

/** Answers by status and by error code, and their times. */
interface Answers {
  statuses: Record<string, number>;
  errors: Record<string, number>;
  latency: LatencyHistogram;
}

/** One route. Routes without requests are not listed. */
export interface RouteStatus extends Answers {
  method: string;
  /** The template, such as `/products/:id/`; `(none)` for requests that match no route. */
  route: string;
  requests: number;
}

/** One of the busiest stores. */
export interface TenantStatus {
  namespace: string;
  requests: number;
  errors: number;
}

/**
 * The reply to `GET /status` on the control socket: a server with all of its workers. Counters run from the start of the
 * server and never decrease. Times are RFC 3339.
 */
export interface ServerStatus extends DatabaseFigures {
  version: string;
  pid: number;
  started_at: string;
  /** The time of this reply by the server's clock. */
  at: string;
  url: string;
  /** Processes that should answer requests. */
  workers: number;
  processes: ProcessStatus[];
  requests: Answers & { total: number; in_flight: number };
  routes: RouteStatus[];
  sign_ins: {
    succeeded: number;
    /** Wrong address, password or code. */
    failed: number;
    /** Right password; a one-time code was requested. */
    two_factor: number;
    /** Refused because of too many attempts. */
    limited: number;
  };
  tenants: TenantStatus[];
  /** Whether orders, points and idempotency keys do not expire now, because the clock jumped. */
  expiry_paused: boolean;
  /** The replica of `--replicate-to`; null without one. */
  replication: ReplicationStatus | null;
}

/** How a request of `/health/live` whose `X-Request-Id` begins with `doctor-` arrived at the server. */
export interface RecentRequest {
  request_id: string;
  at: string;
  /** The socket's peer. */
  peer: string | null;
  /** The client's address, according to the trusted proxies. */
  client: string | null;
  /** The protocol between the server and its peer, which may be a proxy. */
  protocol: "http" | "https";
  host: string | null;
  /** Forwarding headers of proxies that were sent; names in lower case. */
  forwarded: Record<string, string>;
}
