/** How long answers took, from the start of the process; histograms of several moments or processes can be subtracted and added. */
export interface LatencyHistogram {
  /** Upper bounds of the buckets in milliseconds, ascending; one more bucket follows for what took longer. */
  bounds_ms: readonly number[];
  /** Answers in each bucket, one more than there are bounds; not summed up. */
  counts: readonly number[];
  sum_ms: number;
}

/** One process of a server. */
export interface ProcessStatus {
  /** `main`, which is the only one that answers where there are no workers; or the place of a worker, from `1`. */
  name: string;
  pid: number;
  started_at: string;
  /** False for a worker that has not said anything of late; its figures are the last that it told. */
  answers: boolean;
  memory_bytes: number;
  /** User and system time that it has used. */
  cpu_seconds: number;
  /** The longest that its event loop was held up within the last seconds. */
  event_loop_lag_ms: number;
  /** API requests that have begun and are not answered yet. */
  in_flight: number;
  /** Writes that wait for their turn; 0 beside a database server. */
  writes_waiting: number;
  /** How long the first of them has waited. */
  write_wait_ms: number;
}

/** What is answered by one route. Routes that nobody has called are not listed. */
export interface RouteStatus {
  method: string;
  /** The template, such as `/products/:id/`; `(none)` for what is no route. */
  route: string;
  requests: number;
  /** Answers of each HTTP status. */
  statuses: Record<string, number>;
  /** Answers of each error code. */
  errors: Record<string, number>;
  latency: LatencyHistogram;
}

/** A store by what it is asked; those asked most come first, and only some of them are listed. */
export interface TenantStatus {
  namespace: string;
  requests: number;
  /** Those of them that were answered with an error. */
  errors: number;
}

/** What waits in one of the tables that something is sent from. */
export interface QueueStatus {
  waiting: number;
  /** What has been given up within the last day. */
  failed: number;
}

/**
 * What `GET /status` on the control socket says of a server and all of its workers. Counters run from the start of the
 * server and never go back. Times are RFC 3339.
 */
export interface ServerStatus {
  version: string;
  pid: number;
  started_at: string;
  /** When this was said, by the server's clock. */
  at: string;
  /** Where the server listens. */
  url: string;
  /** Processes that answer. */
  workers: number;
  processes: ProcessStatus[];
  requests: {
    total: number;
    in_flight: number;
    statuses: Record<string, number>;
    errors: Record<string, number>;
    latency: LatencyHistogram;
  };
  routes: RouteStatus[];
  sign_ins: {
    succeeded: number;
    /** A wrong address, password or code. */
    failed: number;
    /** The password was right, and a second factor was asked for. */
    two_factor: number;
    /** Refused because of too many before. */
    limited: number;
  };
  tenants: TenantStatus[];
  /** Sizes are null where there is no file. */
  database: { kind: string; bytes: number | null; log_bytes: number | null; disk_free_bytes: number | null };
  /** Null while the database cannot say. */
  queues: { mail: QueueStatus; webhooks: QueueStatus; pushes: QueueStatus } | null;
  /** When the last backup of this data directory was made; null for none. */
  last_backup_at: string | null;
  /** When a backup failed after that one; null where none has. */
  last_backup_failed_at: string | null;
  /** When the certificate that the server presents ends; null without one. */
  certificate_expires_at: string | null;
}

/** What the server saw of a call of `/health/live` whose `X-Request-Id` begins with `doctor-`. */
export interface SeenRequest {
  request_id: string;
  at: string;
  /** The socket's peer. */
  peer: string | null;
  /** Who the caller is after the trusted proxies have been looked at. */
  client: string | null;
  /** How the server itself was spoken to; a proxy before it may have been spoken to otherwise. */
  protocol: "http" | "https";
  host: string | null;
  /** Headers by which proxies tell of a caller, lower-case, as far as they were sent. */
  forwarded: Record<string, string>;
}
