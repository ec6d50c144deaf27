import { boundsMs, type Counts, type RouteCounts } from "./counts.ts";
import { TenantMeter } from "./tenant-meter.ts";

interface Tally {
  name: number;
  count: number;
}

/**
 * Counts the answers of one method of one route. Whoever answers holds it already, so that counting is a few additions:
 * no look-up by route, no text is made.
 */
export class RouteMeter {
  readonly method: string;
  readonly route: string;
  readonly #buckets = new Float64Array(boundsMs.length + 1);
  // A route answers with few statuses and codes, the usual one first: looking through them costs less than hashing.
  readonly #statuses: Tally[] = [];
  readonly #errors: Tally[] = [];
  #sumMs = 0;

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  /**
   * Counts one answer.
   * @param ms from its arrival to its answer.
   * @param code the error's; undefined for a success.
   */
  note(status: number, ms: number, code: number | undefined): void {
    let bucket = 0;
    while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
    (this.#buckets[bucket] as number)++;
    this.#sumMs += ms;
    tally(this.#statuses, status);
    if (code !== undefined) tally(this.#errors, code);
  }

  /** What has been counted; undefined where nothing has. */
  read(): RouteCounts | undefined {
    if (this.#statuses.length === 0) return undefined;
    return {
      method: this.method,
      route: this.route,
      statuses: asRecord(this.#statuses),
      errors: asRecord(this.#errors),
      buckets: [...this.#buckets],
      sumMs: this.#sumMs,
    };
  }
}

/** What one process counts of the requests that it answers. */
export class Meter {
  /** Requests of routes that have begun and are not answered yet. */
  inFlight = 0;
  readonly tenants = new TenantMeter();
  readonly #routes = new Map<string, RouteMeter>();

  /** The meter of one method of a route's template; to be asked for once, not for each request. */
  route(method: string, route: string): RouteMeter {
    const key = `${method} ${route}`;
    const meter = this.#routes.get(key) ?? new RouteMeter(method, route);
    this.#routes.set(key, meter);
    return meter;
  }

  /**
   * The meters of what answers any method; those that HTTP does not know are counted as `other`, so that a caller cannot
   * make up new ones.
   */
  anyMethod(route: string): (method: string) => RouteMeter {
    const kept = new Map<string, RouteMeter>();
    return (method) => {
      const known = kept.get(method);
      if (known !== undefined) return known;
      const name = knownMethods.has(method) ? method : "other";
      const meter = this.route(name, route);
      kept.set(name, meter);
      return meter;
    };
  }

  read(): Counts {
    const routes = [...this.#routes.values()].map((meter) => meter.read()).filter((read) => read !== undefined);
    return { routes, tenants: this.tenants.read() };
  }
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

function tally(tallies: Tally[], name: number): void {
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
