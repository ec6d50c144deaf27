/** Times to answer since the start of the process. Histograms can be added and subtracted. */
export interface LatencyHistogram {
  /** Upper bounds of the buckets in milliseconds, ascending; one more bucket follows for longer times. */
  bounds_ms: readonly number[];
  /** Answers in each bucket, one more than there are bounds; not cumulative. */
  counts: readonly number[];
  sum_ms: number;
}

/** A route, with its replies by status and by error code. Routes without requests are not listed. */
export interface RouteStatus {
  method: string;
  /** The template, such as `/products/:id/`; `(none)` for requests that match no route. */
  route: string;
  requests: number;
  statuses: Record<string, number>;
  errors: Record<string, number>;
  latency: LatencyHistogram;
}

export interface TenantStatus {
  namespace: string;
  requests: number;
  errors: number;
}

/** How a call of `/health/live` with an `X-Request-Id` that begins with `doctor-` arrived at the server. */
export interface RecentRequest {
  request_id: string;
  at: string;
  peer: string | null;
  /** The client's address, according to the trusted proxies. */
  client: string | null;
  /** The protocol between the server and its peer, which may be a proxy. */
  protocol: "http" | "https";
  host: string | null;
  /** Forwarding headers of proxies that were sent; names in lower case. */
  forwarded: Record<string, string>;
}
