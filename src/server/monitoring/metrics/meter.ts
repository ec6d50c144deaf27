import type { RouteStatus, TenantStatus } from "../server-status.ts";
import { boundsMs, type Counts, sortByRequests, sumOf } from "./counts.ts";

interface Tally {
  name: number;
  count: number;
}

/**
 * Counts the responses of one method of one route. The route keeps its meter, so that counting takes a few additions
 * and no look-up.
 */
export class RouteMeter {
  readonly method: string;
  readonly route: string;
  readonly #buckets = new Float64Array(boundsMs.length + 1);
  // A route has few statuses and codes, the usual one first: scanning them is cheaper than hashing.
  readonly #statuses: Tally[] = [];
  readonly #errors: Tally[] = [];
  #sumMs = 0;

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  /** Counts one response. `code` is the error's; undefined for a success. */
  record(status: number, ms: number, code: number | undefined): void {
    let bucket = 0;
    while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
    (this.#buckets[bucket] as number)++;
    this.#sumMs += ms;
    addToTally(this.#statuses, status);
    if (code !== undefined) addToTally(this.#errors, code);
  }

  /** The counts; undefined before the first response. */
  read(): RouteStatus | undefined {
    if (this.#statuses.length === 0) return undefined;
    return {
      method: this.method,
      route: this.route,
      requests: sumOf(this.#statuses, ({ count }) => count),
      statuses: asRecord(this.#statuses),
      errors: asRecord(this.#errors),
      latency: { bounds_ms: boundsMs, counts: [...this.#buckets], sum_ms: this.#sumMs },
    };
  }
}

const maxTenants = 1000;

/** Counts the requests of each store; with more than a thousand stores it drops the least busy. */
export class TenantMeter {
  readonly #kept = new Map<string, TenantStatus>();

  /** Counts one request of an existing store. */
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

  /** The counts, the busiest store first. */
  read(): TenantStatus[] {
    return sortByRequests([...this.#kept.values()]).map((counts) => ({ ...counts }));
  }
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

/** Counts the requests that one process answers. */
export class Meter {
  /** Requests that are not answered yet. */
  inFlight = 0;
  readonly tenants = new TenantMeter();
  readonly #routes = new Map<string, RouteMeter>();

  /** The meter of one method of a route template. Look it up once, not for each request. */
  route(method: string, route: string): RouteMeter {
    const key = `${method} ${route}`;
    const meter = this.#routes.get(key) ?? new RouteMeter(method, route);
    this.#routes.set(key, meter);
    return meter;
  }

  /** The meters of a route for any method. Unknown methods share the name `other`, so that callers cannot add series. */
  anyMethod(route: string): (method: string) => RouteMeter {
    return (method) => this.route(knownMethods.has(method) ? method : "other", route);
  }

  read(): Counts {
    const routes = [...this.#routes.values()].map((meter) => meter.read()).filter((read) => read !== undefined);
    return { routes, tenants: this.tenants.read() };
  }
}

function addToTally(tallies: Tally[], name: number): void {
  for (const one of tallies) {
    if (one.name !== name) continue;
    one.count++;
    return;
  }
  tallies.push({ name, count: 1 });
}

function asRecord(tallies: readonly Tally[]): Record<string, number> {
  return Object.fromEntries(tallies.map(({ name, count }) => [String(name), count]));
}
