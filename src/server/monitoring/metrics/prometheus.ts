import type { LatencyHistogram, ProcessStatus, ServerStatus } from "../server-status.ts";

type Labels = Record<string, string | number>;
type Sample = [labels: Labels, value: number | null | undefined];

/** One metric with all of its series; samples without a value are omitted. */
interface Family {
  name: string;
  type: "counter" | "gauge";
  help: string;
  samples: Sample[];
}

/**
 * A status in the text format of Prometheus (0.0.4). The labels are bounded: route templates and the busiest stores, but
 * no caller, address or key.
 */
export function renderMetrics(status: ServerStatus): string {
  const { routes, requests, sign_ins, tenants, database, queues } = status;
  const families: Family[] = [
    one("build_info", "Version of the running server.", 1, { version: status.version }),
    one("start_time_seconds", "Start time of the server.", seconds(status.started_at)),
    one("workers", "Processes that answer requests.", status.workers),
    {
      ...counter("http_requests_total", "Requests by route and HTTP status."),
      samples: routes.flatMap(({ method, route, statuses }) => spread(statuses, "status", { route, method })),
    },
    {
      ...counter("http_errors_total", "Requests that were answered with an error, by error code."),
      samples: routes.flatMap(({ method, route, errors }) => spread(errors, "code", { route, method })),
    },
    one("http_requests_in_flight", "Requests that are not answered yet.", requests.in_flight),
    {
      ...counter("sign_ins_total", "Sign-ins by result."),
      samples: spread({ ...sign_ins }, "result", {}),
    },
    {
      ...counter("tenant_requests_total", "Requests of the twenty busiest stores since the start."),
      samples: tenants.map(({ namespace, requests }) => [{ namespace }, requests]),
    },
    {
      ...counter("tenant_errors_total", "Requests of those stores that were answered with an error."),
      samples: tenants.map(({ namespace, errors }) => [{ namespace }, errors]),
    },
    ...processFamilies(status.processes),
    one("database_size_bytes", "Size of the database file.", database.bytes),
    one("database_log_size_bytes", "Size of the write-ahead log.", database.log_bytes),
    one("disk_free_bytes", "Free space on the disk of the data directory.", database.disk_free_bytes),
    {
      ...gauge("queue_waiting", "Deliveries in the queue."),
      samples: Object.entries(queues ?? {}).map(([queue, { waiting }]) => [{ queue }, waiting]),
    },
    {
      ...gauge("queue_failed", "Deliveries that failed for good within the last day."),
      samples: Object.entries(queues ?? {}).map(([queue, { failed }]) => [{ queue }, failed]),
    },
    one("last_backup_timestamp_seconds", "Time of the last backup.", seconds(status.last_backup_at)),
    one("last_backup_failed", "1 if a backup has failed since then.", status.last_backup_failed_at === null ? 0 : 1),
    one(
      "certificate_expiry_timestamp_seconds",
      "Expiry of the certificate of the server.",
      seconds(status.certificate_expires_at),
    ),
  ];
  return `${families.map(renderFamily).join("")}${renderLatencies(status)}`;
}

function processFamilies(processes: readonly ProcessStatus[]): Family[] {
  const each = (value: (one: ProcessStatus) => number): Sample[] =>
    processes.map((one) => [{ process: one.name }, value(one)]);
  return [
    { ...gauge("process_up", "0 for a worker that does not answer."), samples: each((one) => (one.answers ? 1 : 0)) },
    { ...gauge("process_resident_memory_bytes", "Resident memory."), samples: each((one) => one.memory_bytes) },
    { ...counter("process_cpu_seconds_total", "Processor time used."), samples: each((one) => one.cpu_seconds) },
    {
      ...gauge("process_event_loop_lag_seconds", "Longest delay of the event loop within the last ten seconds."),
      samples: each((one) => one.event_loop_lag_ms / 1000),
    },
    {
      ...gauge("process_writes_waiting", "Writes in the queue."),
      samples: each((one) => one.writes_waiting),
    },
    {
      ...gauge("process_write_wait_seconds", "Time that the first write in the queue has waited."),
      samples: each((one) => one.write_wait_ms / 1000),
    },
  ];
}

function renderLatencies({ routes }: ServerStatus): string {
  const name = "bodega_http_request_duration_seconds";
  const series = routes.map(({ method, route, latency }) => renderHistogram(name, { route, method }, latency));
  return `${heading(name, "histogram", "Time from a request to its response.")}${series.join("")}`;
}

function renderHistogram(name: string, labels: Labels, { bounds_ms, counts, sum_ms }: LatencyHistogram): string {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const bound = bounds_ms[index];
    return line(`${name}_bucket`, { ...labels, le: bound === undefined ? "+Inf" : bound / 1000 }, total);
  });
  return `${buckets.join("")}${line(`${name}_sum`, labels, sum_ms / 1000)}${line(`${name}_count`, labels, total)}`;
}

function renderFamily({ name, type, help, samples }: Family): string {
  const lines = samples.flatMap(([labels, value]) => (typeof value === "number" ? [line(name, labels, value)] : []));
  return lines.length === 0 ? "" : `${heading(name, type, help)}${lines.join("")}`;
}

function heading(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function counter(name: string, help: string) {
  return { name: `bodega_${name}`, type: "counter", help } as const;
}

function gauge(name: string, help: string) {
  return { name: `bodega_${name}`, type: "gauge", help } as const;
}

function one(name: string, help: string, value: Sample[1], labels: Labels = {}): Family {
  return { ...gauge(name, help), samples: [[labels, value]] };
}

function spread(numbers: Record<string, number>, label: string, labels: Labels): Sample[] {
  return Object.entries(numbers).map(([name, value]) => [{ ...labels, [label]: name }, value]);
}

function seconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
