import type { LatencyHistogram } from "../server-status.ts";

/** Upper bounds of the latency buckets in milliseconds. */
export const boundsMs: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];

/** Counts of one route, as they are sent between processes. */
export interface RouteCounts {
  method: string;
  route: string;
  statuses: Record<string, number>;
  errors: Record<string, number>;
  /** Responses in each bucket of `boundsMs`, and one more for longer times. */
  buckets: number[];
  sumMs: number;
}

/** Requests of one store. */
export interface TenantCounts {
  namespace: string;
  requests: number;
  errors: number;
}

/** Counters of one process or of several. */
export interface Counts {
  routes: RouteCounts[];
  tenants: TenantCounts[];
}

/** Adds up the counts of several processes, by route and by store. */
export function addCounts(all: readonly Counts[]): Counts {
  const routes = new Map<string, RouteCounts>();
  const tenants = new Map<string, TenantCounts>();
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

function addRoutes(a: RouteCounts, b: RouteCounts): RouteCounts {
  return {
    method: a.method,
    route: a.route,
    statuses: addRecords([a.statuses, b.statuses]),
    errors: addRecords([a.errors, b.errors]),
    buckets: a.buckets.map((count, index) => count + (b.buckets[index] ?? 0)),
    sumMs: a.sumMs + b.sumMs,
  };
}

/** Adds up numbers by name. */
export function addRecords(all: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The number of responses of a route. */
export function countResponses({ buckets }: RouteCounts): number {
  return buckets.reduce((sum, count) => sum + count, 0);
}

/** Stores by their number of requests, the busiest first. */
export function sortByRequests(tenants: readonly TenantCounts[]): TenantCounts[] {
  return tenants.toSorted((a, b) => b.requests - a.requests || (a.namespace < b.namespace ? -1 : 1));
}

/** The latencies of several routes in one histogram. */
export function joinLatencies(routes: readonly RouteCounts[]): LatencyHistogram {
  const counts = new Array<number>(boundsMs.length + 1).fill(0);
  let sum_ms = 0;
  for (const { buckets, sumMs } of routes) {
    for (const [index, count] of buckets.entries()) counts[index] = (counts[index] ?? 0) + count;
    sum_ms += sumMs;
  }
  return { bounds_ms: boundsMs, counts, sum_ms };
}
