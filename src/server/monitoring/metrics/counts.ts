import type { LatencyHistogram } from "../control/status.ts";

/** Upper bounds of the latency buckets in milliseconds. */
export const boundsMs: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];

/** What one route has answered, as it travels between processes. */
export interface RouteCounts {
  method: string;
  route: string;
  statuses: Record<string, number>;
  errors: Record<string, number>;
  /** In each bucket, and above them all. */
  buckets: number[];
  sumMs: number;
}

/** What one store was asked. */
export interface TenantCounts {
  namespace: string;
  requests: number;
  errors: number;
}

/** What only grows, of one process or of several together. */
export interface Counts {
  routes: RouteCounts[];
  tenants: TenantCounts[];
}

/** Adds up what several processes have counted, by route and by store. */
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

/** Adds numbers up by their names. */
export function addRecords(all: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** How many answers a route has given. */
export function countAnswers({ buckets }: RouteCounts): number {
  return buckets.reduce((sum, count) => sum + count, 0);
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
