import type { ServerStatus } from "../read-status.ts";
import type { RouteStatus } from "./meter.ts";

type Labels = Record<string, string | number>;
type Sample = [labels: Labels, value: number | null | undefined, suffix?: string];

/** A metric with all its series. Samples without a value are omitted. */
type Family = [type: "counter" | "gauge" | "histogram", name: string, help: string, samples: Sample[]];

/** Returns Prometheus text (0.0.4). The number of series is limited, and no label names a caller, address or key. */
export function renderMetrics(status: ServerStatus): string {
  const { routes, in_flight, sign_ins, tenants, database, queues, processes } = status;
  const { version, started_at, last_backup_at, last_backup_failed_at, certificate_expires_at, replication } = status;
  const { failure } = replication ?? {};
  const { last_restore_test_at: tested, last_restore_test_failed_at: failed } = status;
  const one = (value: Sample[1], labels: Labels = {}): Sample[] => [[labels, value]];
  const each = (value: (one: ServerStatus["processes"][number]) => number): Sample[] =>
    processes.map((process) => [{ process: process.name }, value(process)]);
  const inSeconds = (name: "event_loop_lag_ms" | "write_wait_ms") => each(({ [name]: ms }) => ms / 1000);
  const ofQueues = (value: "waiting" | "failed"): Sample[] =>
    Object.entries(queues ?? {}).map(([queue, figures]) => [{ queue }, figures[value]]);
  const ofRoutes = (value: "statuses" | "errors", label: string): Sample[] =>
    routes.flatMap(({ method, route, [value]: counts }) => spread(counts, label, { route, method }));
  const ofTenants = (value: "requests" | "errors"): Sample[] =>
    tenants.map(({ namespace, [value]: count }) => [{ namespace }, count]);
  const answering = processes.filter(
    ({ name, answers }) => answers && (name !== "main" || status.workers === 1),
  ).length;
  const families: Family[] = [
    ["gauge", "build_info", "Version of the running server.", one(1, { version })],
    ["gauge", "start_time_seconds", "Start time of the server.", one(seconds(started_at))],
    ["gauge", "workers", "Processes that answer requests.", one(answering)],
    ["gauge", "workers_configured", "Processes that should answer requests.", one(status.workers)],
    ["counter", "http_requests_total", "Requests by route and HTTP status.", ofRoutes("statuses", "status")],
    ["counter", "http_errors_total", "Requests answered with an error, by error code.", ofRoutes("errors", "code")],
    ["gauge", "http_requests_in_flight", "Requests that are not answered yet.", one(in_flight)],
    ["counter", "sign_ins_total", "Sign-ins by result.", spread({ ...sign_ins }, "result", {})],
    ["counter", "tenant_requests_total", "Requests of the twenty busiest stores.", ofTenants("requests")],
    ["counter", "tenant_errors_total", "Failed requests of the twenty busiest stores.", ofTenants("errors")],
    ["gauge", "process_up", "0 for a worker that does not run or answer.", each(({ answers }) => (answers ? 1 : 0))],
    ["gauge", "process_resident_memory_bytes", "Resident memory.", each(({ memory_bytes }) => memory_bytes)],
    ["counter", "process_cpu_seconds_total", "Processor time used.", each(({ cpu_seconds }) => cpu_seconds)],
    ["gauge", "process_event_loop_lag_seconds", "Longest delay within ten seconds.", inSeconds("event_loop_lag_ms")],
    ["gauge", "process_writes_waiting", "Writes in the queue.", each(({ writes_waiting }) => writes_waiting)],
    ["gauge", "process_write_wait_seconds", "Age of the first write in the queue.", inSeconds("write_wait_ms")],
    ["gauge", "database_size_bytes", "Size of the database file.", one(database.bytes)],
    ["gauge", "database_log_size_bytes", "Size of the write-ahead log.", one(database.wal_bytes)],
    ["gauge", "disk_free_bytes", "Free space on the disk of the data directory.", one(database.disk_free_bytes)],
    ["gauge", "queue_waiting", "Deliveries in the queue.", ofQueues("waiting")],
    ["gauge", "queue_failed", "Deliveries that were given up within the last day.", ofQueues("failed")],
    ["gauge", "last_backup_timestamp_seconds", "Time of the last backup.", one(seconds(last_backup_at))],
    ["gauge", "last_backup_failed", "1 if the last backup failed.", one(last_backup_failed_at ? 1 : 0)],
    ["gauge", "restore_test_timestamp_seconds", "Time of the last successful restore test.", one(seconds(tested))],
    ["gauge", "restore_test_success", "0 if the last restore test failed.", one(failed ? 0 : tested ? 1 : null)],
    ["gauge", "replication_lag_seconds", "Age of the replica's state.", one(replication?.lag_seconds)],
    ["gauge", "replication_failing", "1 if the replica cannot be written.", one(replication && (failure ? 1 : 0))],
    ["gauge", "certificate_expiry_timestamp_seconds", "Certificate expiry.", one(seconds(certificate_expires_at))],
    ["histogram", "http_request_duration_seconds", "Time from a request to its response.", routes.flatMap(latencyOf)],
  ];
  return families.map(renderFamily).join("");
}

function latencyOf({ method, route, latency }: RouteStatus): Sample[] {
  const { bounds_ms, counts, sum_ms } = latency;
  const labels = { route, method };
  let total = 0;
  const buckets = counts.map((count, index): Sample => {
    total += count;
    const bound = bounds_ms[index];
    return [{ ...labels, le: bound === undefined ? "+Inf" : bound / 1000 }, total, "_bucket"];
  });
  return [...buckets, [labels, sum_ms / 1000, "_sum"], [labels, total, "_count"]];
}

function renderFamily([type, name, help, samples]: Family): string {
  const lines = samples.flatMap(([labels, value, suffix = ""]) =>
    typeof value === "number" ? [line(`bodega_${name}${suffix}`, labels, value)] : [],
  );
  return lines.length === 0 ? "" : `# HELP bodega_${name} ${help}\n# TYPE bodega_${name} ${type}\n${lines.join("")}`;
}

/** Formats a sample. Values of labels are escaped like strings in JSON. */
function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(String(text))}`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

function spread(numbers: Record<string, number>, label: string, labels: Labels): Sample[] {
  return Object.entries(numbers).map(([name, value]) => [{ ...labels, [label]: name }, value]);
}

function seconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
