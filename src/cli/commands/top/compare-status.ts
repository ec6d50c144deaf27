import type { LatencyHistogram } from "../../../server/monitoring/metrics/meter.ts";
import type { ServerStatus } from "../../../server/monitoring/read-status.ts";

/** The activity of a server between two samples of its status: rates per second, and totals since its start. */
export type ServerActivity = ReturnType<typeof compareStatus>;

/** Compares two samples. If the server was restarted in between, only the second one counts. */
export function compareStatus(first: ServerStatus, after: ServerStatus) {
  const before = first.started_at === after.started_at && first.pid === after.pid ? first : undefined;
  const since = before?.at ?? after.started_at;
  const seconds = Math.max((Date.parse(after.at) - Date.parse(since)) / 1000, 0.001);
  const perSecond = (now: number, then = 0) => round(Math.max(0, now - then) / seconds);
  const rate = (now: number, then = 0) => ({ per_second: perSecond(now, then), total: now });
  const rates = (now: Record<string, number>, then: Record<string, number> = {}) =>
    Object.fromEntries(Object.entries(now).map(([name, count]) => [name, rate(count, then[name])]));
  const routesBefore = new Map(before?.routes.map((one) => [`${one.method} ${one.route}`, one]));
  const tenantsBefore = new Map(before?.tenants.map((one) => [one.namespace, one]));
  const processesBefore = new Map(before?.processes.map((one) => [one.name, one]));
  const { requests, sign_ins, tenants, routes, processes, ...unchanged } = after;
  return {
    ...unchanged,
    uptime_seconds: round((Date.parse(after.at) - Date.parse(after.started_at)) / 1000),
    interval_seconds: round(seconds),
    requests: { ...rate(requests.total, before?.requests.total), in_flight: requests.in_flight },
    latency_ms: latencies(requests.latency, before?.requests.latency),
    // The keys are HTTP statuses, error codes and results of sign-ins.
    statuses: rates(requests.statuses, before?.requests.statuses),
    errors: rates(requests.errors, before?.requests.errors),
    sign_ins: rates(sign_ins, before?.sign_ins) as Record<keyof ServerStatus["sign_ins"], ReturnType<typeof rate>>,
    tenants: tenants
      .map(({ namespace, requests: total, errors }) => {
        // A store that was not among the busiest in the first sample has no count there. Its rate is then 0.
        const then = tenantsBefore.get(namespace) ?? (before && { requests: total, errors });
        const errors_per_second = perSecond(errors, then?.errors);
        return { namespace, per_second: perSecond(total, then?.requests), errors_per_second, total };
      })
      .toSorted(byRate),
    routes: routes
      .map(({ method, route, requests: total, latency }) => {
        const then = routesBefore.get(`${method} ${route}`);
        const latency_ms = latencies(latency, then?.latency);
        return { method, route, per_second: perSecond(total, then?.requests), total, latency_ms };
      })
      .toSorted(byRate),
    processes: processes.map((one) => {
      const used = one.cpu_seconds - (processesBefore.get(one.name)?.cpu_seconds ?? 0);
      // As a percentage of one core.
      return { ...one, cpu_percent: round((100 * Math.max(0, used)) / seconds) };
    }),
  };
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

/** Sorts by the highest rate, and equal rates by the highest total. */
export function byRate(a: { per_second: number; total: number }, b: typeof a): number {
  return b.per_second - a.per_second || b.total - a.total;
}

function latencies(after: LatencyHistogram, before: LatencyHistogram | undefined) {
  const [p50 = null, p95 = null, p99 = null] = [0.5, 0.95, 0.99].map((share) => {
    const ms = percentileOf(share, after, before);
    return ms && round(ms);
  });
  return { p50, p95, p99 };
}

/**
 * Returns a percentile of the latencies since `before` in milliseconds, interpolated in its bucket. Null without
 * requests; for latencies above the last bound, that bound.
 */
export function percentileOf(share: number, after: LatencyHistogram, before?: LatencyHistogram): number | null {
  const { bounds_ms } = after;
  const counts = after.counts.map((count, index) => count - (before?.counts[index] ?? 0));
  const place = share * counts.reduce((sum, count) => sum + count, 0);
  if (place === 0) return null;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= place) {
      const low = bounds_ms[index - 1] ?? 0;
      const high = bounds_ms[index] ?? low;
      return low + ((high - low) * Math.max(0, place - below)) / count;
    }
    below += count;
  }
  return bounds_ms.at(-1) ?? null;
}
