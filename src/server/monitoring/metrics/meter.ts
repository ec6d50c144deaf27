import type { LatencyHistogram, RouteStatus, TenantStatus } from "../server-status.ts";

/** Counts the replies of one method of a route. The route keeps its meter, so no look-up is needed. */
export class RouteMeter {
  readonly method: string;
  readonly route: string;
  readonly #buckets = new Float64Array(boundsMs.length + 1);
  readonly #statuses = new Map<number, number>();
  readonly #errors = new Map<number, number>();
  #sumMs = 0;

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  record(status: number, ms: number, code: number | undefined): void {
    let bucket = 0;
    while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
    (this.#buckets[bucket] as number)++;
    this.#sumMs += ms;
    increment(this.#statuses, status);
    if (code !== undefined) increment(this.#errors, code);
  }

  read(): RouteStatus | undefined {
    if (this.#statuses.size === 0) return undefined;
    return {
      method: this.method,
      route: this.route,
      requests: sumOf([...this.#statuses.values()], (count) => count),
      statuses: Object.fromEntries(this.#statuses),
      errors: Object.fromEntries(this.#errors),
      latency: { bounds_ms: boundsMs, counts: [...this.#buckets], sum_ms: this.#sumMs },
    };
  }
}

const maxTenants = 1000;

/** Counts the requests of each store; beyond a thousand stores, the least busy are dropped. */
export class TenantMeter {
  readonly #kept = new Map<string, TenantStatus>();

  record(namespace: string, isError: boolean): void {
    let counts = this.#kept.get(namespace);
    if (counts === undefined) {
      if (this.#kept.size >= maxTenants) {
        for (const { namespace } of this.read().slice(maxTenants / 2)) this.#kept.delete(namespace);
      }
      counts = { namespace, requests: 0, errors: 0 };
      this.#kept.set(namespace, counts);
    }
    counts.requests++;
    if (isError) counts.errors++;
  }

  read(): TenantStatus[] {
    return sortByRequests([...this.#kept.values()]).map((counts) => ({ ...counts }));
  }
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

export class Meter {
  inFlight = 0;
  readonly tenants = new TenantMeter();
  readonly #routes = new Map<string, RouteMeter>();

  /** Returns the meter of a method of a route template. Call it once, not for each request. */
  route(method: string, route: string): RouteMeter {
    const key = `${method} ${route}`;
    const meter = this.#routes.get(key) ?? new RouteMeter(method, route);
    this.#routes.set(key, meter);
    return meter;
  }

  /** Returns the meters of a route for any method. Unknown methods share `other`, so nobody can add series. */
  anyMethod(route: string): (method: string) => RouteMeter {
    return (method) => this.route(knownMethods.has(method) ? method : "other", route);
  }

  read(): Counts {
    const routes = [...this.#routes.values()].map((meter) => meter.read()).filter((read) => read !== undefined);
    return { routes, tenants: this.tenants.read() };
  }
}

function increment(counts: Map<number, number>, name: number): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export const boundsMs: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];

export interface Counts {
  routes: RouteStatus[];
  tenants: TenantStatus[];
}

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

export function addRecords(all: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

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

export function sortByRequests(tenants: readonly TenantStatus[]): TenantStatus[] {
  return tenants.toSorted((a, b) => b.requests - a.requests || (a.namespace < b.namespace ? -1 : 1));
}
