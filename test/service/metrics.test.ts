import { describe, expect, test } from "bun:test";
import { addCounts, addRoutes, Meter } from "../../src/server/monitoring/metrics/meter.ts";
import { renderMetrics } from "../../src/server/monitoring/metrics/prometheus.ts";
import type { ServerStatus } from "../../src/server/monitoring/read-status.ts";
import { parseMetrics } from "../support/prometheus.ts";

describe("a meter", () => {
  test("a meter counts replies by status, code and time, and lists only used routes", () => {
    const meter = new Meter();
    const products = meter.route("GET", "/products/");
    meter.route("POST", "/products/");
    expect(meter.route("GET", "/products/")).toBe(products);
    for (const ms of [0.05, 0.1, 0.11, 7]) products.record(200, ms, undefined);
    products.record(401, 60_000, 5203);
    const { routes } = meter.read();
    expect(routes).toEqual([
      {
        method: "GET",
        route: "/products/",
        requests: 5,
        statuses: { 200: 4, 401: 1 },
        errors: { 5203: 1 },
        // A latency that equals a bound counts in the bucket below it.
        latency: {
          bounds_ms: expect.arrayContaining([0.1, 0.2, 10_000]),
          counts: [2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
          sum_ms: 60_007.26,
        },
      },
    ]);
  });

  test("a meter counts known HTTP methods, and all others as one", () => {
    const meterOf = new Meter().anyMethod("(none)");
    expect(meterOf("PROPFIND")).toBe(meterOf("x".repeat(1000)));
    expect([meterOf("PROPFIND").method, meterOf("DELETE").method]).toEqual(["other", "DELETE"]);
  });

  test("a meter returns only a limited number of stores, those with the most requests", () => {
    const meter = new Meter();
    for (let round = 0; round < 3; round++) meter.recordTenant("busy", round === 0);
    for (let number = 0; number < 5000; number++) meter.recordTenant(`store-${number}`, false);
    const read = meter.read().tenants;
    expect(read[0]).toEqual({ namespace: "busy", requests: 3, errors: 1 });
    expect(read.length).toBeLessThanOrEqual(1000);
  });

  test("a meter adds up the counts of several processes", () => {
    const [one, other] = [new Meter(), new Meter()];
    for (const meter of [one, other]) {
      meter.route("GET", "/a/").record(200, 1, undefined);
      meter.recordTenant("demo", false);
    }
    other.route("GET", "/a/").record(500, 3, 5000);
    other.route("GET", "/b/").record(200, 1, undefined);
    const before = JSON.stringify([one.read(), other.read()]);
    const { routes, tenants } = addCounts([one.read(), other.read()]);
    expect(tenants).toEqual([{ namespace: "demo", requests: 2, errors: 0 }]);
    expect(routes.map((route) => [route.route, route.requests, route.statuses, route.errors])).toEqual([
      ["/a/", 3, { 200: 2, 500: 1 }, { 5000: 1 }],
      ["/b/", 1, { 200: 1 }, {}],
    ]);
    expect(addRoutes(routes).latency.sum_ms).toBe(6);
    expect(JSON.stringify([one.read(), other.read()])).toBe(before);
  });
});

const latency = { bounds_ms: [1, 2], counts: [1, 0, 2], sum_ms: 1500 };
const status: ServerStatus = {
  version: '1.0"\\\n',
  pid: 1,
  started_at: "2030-01-15T12:00:00.000Z",
  url: "http://127.0.0.1:8080",
  workers: 1,
  processes: [],
  in_flight: 1,
  routes: [{ method: "GET", route: "/a/:id/", requests: 3, statuses: { 200: 3 }, errors: {}, latency }],
  sign_ins: { succeeded: 1, failed: 2, two_factor: 3, limited: 4 },
  tenants: [{ namespace: "demo", requests: 3, errors: 1 }],
  replication: { place: "/replica", lag_seconds: 0.5, failure: null },
  database: { bytes: null, wal_bytes: null, disk_free_bytes: null },
  queues: null,
  last_backup_at: "2030-01-15T11:00:00.000Z",
  last_backup_failed_at: null,
  last_restore_test_at: "2030-01-15T11:30:00.000Z",
  last_restore_test_failed_at: null,
  certificate_expires_at: null,
};

describe("the page for Prometheus", () => {
  test("the page for Prometheus is well formed, in seconds, with unchanged labels", () => {
    const page = parseMetrics(renderMetrics(status));
    expect(page.value("bodega_build_info", { version: status.version })).toBe(1);
    expect(page.value("bodega_start_time_seconds")).toBe(Date.parse(status.started_at) / 1000);
    expect(page.value("bodega_http_request_duration_seconds_sum")).toBe(1.5);
    expect(page.value("bodega_http_request_duration_seconds_bucket", { le: "0.001" })).toBe(1);
    expect(page.value("bodega_http_request_duration_seconds_bucket", { le: "+Inf" })).toBe(3);
    expect(page.value("bodega_sign_ins_total", { result: "limited" })).toBe(4);
    expect(page.value("bodega_last_backup_timestamp_seconds")).toBe(1_894_705_200);
  });

  test("the page for Prometheus says when a restore test last succeeded, and whether a later test has failed", () => {
    const page = parseMetrics(renderMetrics(status));
    expect(page.value("bodega_restore_test_timestamp_seconds")).toBe(1_894_707_000);
    expect(page.value("bodega_restore_test_success")).toBe(1);
    const failed = parseMetrics(renderMetrics({ ...status, last_restore_test_failed_at: status.started_at }));
    expect(failed.value("bodega_restore_test_success")).toBe(0);
    const { samples } = parseMetrics(renderMetrics({ ...status, last_restore_test_at: null }));
    expect(samples.filter(({ name }) => name.startsWith("bodega_restore_test"))).toEqual([]);
  });

  test("the page for Prometheus omits unknown values", () => {
    const { samples } = parseMetrics(renderMetrics(status));
    const names = new Set(samples.map(({ name }) => name));
    expect(names).not.toContain("bodega_database_size_bytes");
    expect(names).not.toContain("bodega_certificate_expiry_timestamp_seconds");
    expect(names).not.toContain("bodega_queue_waiting");
  });
});
