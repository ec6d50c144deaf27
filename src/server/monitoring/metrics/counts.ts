import type { LatencyHistogram, RouteStatus, TenantStatus } from "../server-status.ts";

/** Upper bounds of the latency buckets in milliseconds. */
export const boundsMs: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];

/** Counters of one process or of several. */
export interface Counts {
  routes: RouteStatus[];
  tenants: TenantStatus[];
}

/** Adds up the counts of several processes, by route and by store. */
export function addCounts(all: readonly Counts[]): Counts {
  const routes = new Map<string, RouteStatus>();
  const tenants = new Map<string, TenantStatus>();
  for (const counts of all) {
    for (const one of counts.routes) {
      const key = `${one.method} ${one.route}`;
      const sum = routes.get(key);
      routes.set(key, sum === undefined ? one : addRoutes(sum, one));
    }
    for (const { namespace, requests, errors } of counts.tenants) {
      const sum = tenants.get(namespace) ?? { namespace, requests: 0, errors: 0 };
      tenants.set(namespace, { namespace, requests: sum.requests + requests, errors: sum.errors + errors });
    }
  }
  return { routes: [...routes.values()], tenants: [...tenants.values()] };
}

function addRoutes(a: RouteStatus, b: RouteStatus): RouteStatus {
  return {
    method: a.method,
    route: a.route,
    requests: a.requests + b.requests,
    statuses: addRecords([a.statuses, b.statuses]),
    errors: addRecords([a.errors, b.errors]),
    latency: addLatencies([a.latency, b.latency]),
  };
}

/** Adds up numbers by name. */
export function addRecords(all: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** Several histograms in one. */
export function addLatencies(all: readonly LatencyHistogram[]): LatencyHistogram {
  return {
    bounds_ms: boundsMs,
    counts: Array.from({ length: boundsMs.length + 1 }, (_, index) => sumOf(all, ({ counts }) => counts[index] ?? 0)),
    sum_ms: sumOf(all, ({ sum_ms }) => sum_ms),
  };
}

export function sumOf<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + numberOf(row), 0);
}

/** Stores by their number of requests, the busiest first. */
export function sortByRequests(tenants: readonly TenantStatus[]): TenantStatus[] {
  return tenants.toSorted((a, b) => b.requests - a.requests || (a.namespace < b.namespace ? -1 : 1));
}
