import { sumOf } from "../../values/money.ts";

export type RouteStatus = Omit<RouteMeter, "record">;

const boundsMs: readonly number[] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** Counts the replies of a route to one HTTP method. The route keeps its meter, so requests need no look-up. */
export class RouteMeter {
  readonly method: string;
  /** The template, such as `/products/:id/`; `(none)` for requests that match no route. */
  readonly route: string;
  requests = 0;
  readonly statuses: Record<string, number> = {};
  readonly errors: Record<string, number> = {};
  /**
   * A histogram of the times to answer. `bounds_ms` are the upper bounds of the buckets, ascending; the last bucket is
   * for longer times. `counts` are not cumulative, so histograms can be added and subtracted.
   */
  readonly latency = { bounds_ms: boundsMs, counts: [...boundsMs.map(() => 0), 0], sum_ms: 0 };

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  record(status: number, ms: number, code: number | undefined): void {
    let bucket = 0;
    while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
    (this.latency.counts[bucket] as number)++;
    this.latency.sum_ms += ms;
    this.requests++;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (code !== undefined) this.errors[code] = (this.errors[code] ?? 0) + 1;
  }
}

interface TenantStatus {
  namespace: string;
  requests: number;
  errors: number;
}

const maxTenants = 1000;

/** Counts of requests by route, and of the busiest stores. Routes without requests are not listed. */
export interface Counts {
  routes: RouteStatus[];
  tenants: TenantStatus[];
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

export class Meter {
  inFlight = 0;
  readonly #routes = new Map<string, RouteMeter>();
  readonly #tenants = new Map<string, TenantStatus>();

  /** Returns the meter of a method and a route template. Call this once for each route, not for each request. */
  route(method: string, route: string): RouteMeter {
    const key = `${method} ${route}`;
    const meter = this.#routes.get(key) ?? new RouteMeter(method, route);
    this.#routes.set(key, meter);
    return meter;
  }

  /** Returns the meters of a route for any method. Unknown methods share `other`, so that callers cannot add series. */
  anyMethod(route: string): (method: string) => RouteMeter {
    return (method) => this.route(knownMethods.has(method) ? method : "other", route);
  }

  /** Counts a request of a store that exists. */
  recordTenant(namespace: string, isError: boolean): void {
    const counts = this.#tenants.get(namespace) ?? { namespace, requests: 0, errors: 0 };
    counts.requests++;
    if (isError) counts.errors++;
    this.#tenants.set(namespace, counts);
  }

  read(): Counts {
    const routes = [...this.#routes.values()].filter(({ requests }) => requests > 0);
    const tenants = sortByRequests([...this.#tenants.values()]).slice(0, maxTenants);
    return structuredClone({ routes, tenants });
  }
}

export function addCounts(all: readonly Counts[]): Counts {
  const byRoute = Map.groupBy(
    all.flatMap(({ routes }) => routes),
    ({ method, route }) => `${method} ${route}`,
  );
  const byStore = Map.groupBy(
    all.flatMap(({ tenants }) => tenants),
    ({ namespace }) => namespace,
  );
  return {
    routes: Array.from(byRoute.values(), (same) => ({ ...(same[0] as RouteStatus), ...addRoutes(same) })),
    tenants: Array.from(byStore, ([namespace, same]) => ({
      namespace,
      requests: sumOf(same, ({ requests }) => requests),
      errors: sumOf(same, ({ errors }) => errors),
    })),
  };
}

export function addRoutes(routes: readonly RouteStatus[]): Omit<RouteStatus, "method" | "route"> {
  const latencies = routes.map(({ latency }) => latency);
  const countOf = (_: unknown, index: number) => sumOf(latencies, ({ counts }) => counts[index] ?? 0);
  return {
    requests: sumOf(routes, ({ requests }) => requests),
    statuses: addRecords(routes.map(({ statuses }) => statuses)),
    errors: addRecords(routes.map(({ errors }) => errors)),
    latency: {
      bounds_ms: boundsMs,
      counts: [...boundsMs, 0].map(countOf),
      sum_ms: sumOf(latencies, (one) => one.sum_ms),
    },
  };
}

function addRecords(all: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

export function sortByRequests(tenants: readonly TenantStatus[]): TenantStatus[] {
  return tenants.toSorted((a, b) => b.requests - a.requests || (a.namespace < b.namespace ? -1 : 1));
}
