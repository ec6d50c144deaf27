import { formatBytes } from "../../../server/values/bytes.ts";
import { formatDuration } from "../../../server/values/duration.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { type Column, renderTable, truncateText } from "../../terminal/table.ts";
import type { ServerActivity } from "./compare-status.ts";
import { formatCount, formatMs } from "./quantities.ts";
import { wrapParts } from "./wrap-parts.ts";

interface Canvas {
  columns: number;
  /** Lines that there is room for; undefined for as many as there are. */
  rows: number | undefined;
  color: boolean;
  /** Stands in place of the first line. */
  note?: string | undefined;
}

type Tenant = ServerActivity["tenants"][number];
type Route = ServerActivity["routes"][number];
type Process = ServerActivity["processes"][number];

const labelWidth = 10;
const maxRows = 20;
const fewestProcesses = 2;
/** Lines of two tables with a row each. */
const twoTables = 6;
/** Narrower than this, only what says most of a process is shown. */
const wide = 64;

/** What happens in a server as lines that fit the terminal, the most telling first. */
export function renderTop(activity: ServerActivity, { columns, rows, color, note }: Canvas): string[] {
  const bold = (text: string) => (color ? `\u001b[1m${text}\u001b[22m` : text);
  const head = note === undefined ? wrapParts(describeServer(activity), columns) : [truncateText(note, columns)];
  const lines = [
    ...head.map(bold),
    ...summary(activity).flatMap(([label, parts]) =>
      wrapParts(parts, columns - labelWidth).map((line, index) => {
        const begin = (index === 0 ? label : "").padEnd(labelWidth);
        return `${bold(begin)}${line}`;
      }),
    ),
  ];
  const table = <Row>(all: readonly Row[], shape: Column<Row>[], most: number) => {
    if (all.length === 0 || most < 1) return [];
    const text = renderTable(all.slice(0, most), shape, { width: columns, color });
    return ["", ...text.trimEnd().split("\n")];
  };
  // A blank line and one of headers stand above each table.
  const room = () => (rows === undefined ? maxRows + 2 : rows - lines.length) - 2;
  const forProcesses = rows === undefined ? maxRows : Math.max(fewestProcesses, room() - twoTables);
  // Where some must be left out, those that hang are not.
  const processes = activity.processes.toSorted((a, b) =>
    activity.processes.length > forProcesses ? Number(a.answers) - Number(b.answers) : 0,
  );
  const shape = columns < wide ? processColumns.slice(0, 4) : processColumns;
  lines.push(...table(processes, shape, Math.min(room(), forProcesses)));
  const asked = activity.routes.filter(({ per_second }) => per_second > 0);
  const routes = asked.length > 0 ? asked : activity.routes;
  const forTenants = routes.length === 0 ? room() : Math.max(3, Math.floor((room() - 2) / 2));
  lines.push(...table(activity.tenants, tenantColumns, Math.min(room(), forTenants, maxRows)));
  lines.push(...table(routes, routeColumns, Math.min(room(), maxRows)));
  return rows === undefined ? lines : lines.slice(0, rows);
}

function describeServer({ version, url, uptime_seconds, workers }: ServerActivity): string[] {
  const processes = workers === 1 ? "1 process" : `${workers} workers`;
  return [`Bodega ${version}`, `up ${formatDuration(uptime_seconds * 1000)}`, processes, url].map(escapeControls);
}

function summary(activity: ServerActivity): [label: string, parts: string[]][] {
  const { requests, latency_ms, statuses, errors, sign_ins, queues, database } = activity;
  const { p50, p95, p99 } = latency_ms;
  const lines: [string, string[]][] = [
    [
      "Requests",
      [`${formatCount(requests.per_second)}/s`, `${requests.in_flight} in flight`, `${requests.total} in all`],
    ],
    ["Latency", [`p50 ${formatMs(p50)}`, `p95 ${formatMs(p95)}`, `p99 ${formatMs(p99)}`]],
    ["Answers", listRates(statuses, "none yet")],
    ["Errors", listRates(errors, "none")],
    [
      "Sign-ins",
      [
        `ok ${sign_ins.succeeded.total}`,
        `failed ${sign_ins.failed.total}`,
        `code asked ${sign_ins.two_factor.total}`,
        `held off ${sign_ins.limited.total}`,
      ],
    ],
  ];
  if (queues !== null) {
    const waiting = Object.entries(queues).map(
      ([name, { waiting, failed }]) => `${name} ${waiting}${failed > 0 ? ` (${failed} failed)` : ""}`,
    );
    lines.push(["Waiting", waiting]);
  }
  const sizes = [
    database.bytes === null ? database.kind : formatBytes(database.bytes),
    describeBackup(activity),
    database.disk_free_bytes === null ? undefined : `disk ${formatBytes(database.disk_free_bytes)} free`,
    database.log_bytes === null ? undefined : `log ${formatBytes(database.log_bytes)}`,
  ];
  lines.push(["Database", sizes.filter((size) => size !== undefined)]);
  return lines;
}

function describeBackup({ at, last_backup_at, last_backup_failed_at }: ServerActivity): string {
  if (last_backup_failed_at !== null) return "last backup FAILED";
  if (last_backup_at === null) return "no backup";
  return `backup ${formatDuration(Date.parse(at) - Date.parse(last_backup_at))} ago`;
}

/** Those that happen now, the most frequent first; else what has happened. */
function listRates(rates: Record<string, { per_second: number; total: number }>, none: string): string[] {
  const all = Object.entries(rates).toSorted(([, a], [, b]) => b.per_second - a.per_second || b.total - a.total);
  if (all.length === 0) return [none];
  return all.map(
    ([name, { per_second, total }]) => `${name}: ${per_second > 0 ? `${formatCount(per_second)}/s` : total}`,
  );
}

const processColumns: Column<Process>[] = [
  { header: "PROCESS", value: ({ name, answers }) => (answers ? name : `${name} (hangs)`) },
  { header: "MEMORY", value: ({ memory_bytes }) => formatBytes(memory_bytes) },
  { header: "CPU", value: ({ cpu_percent }) => `${Math.round(cpu_percent)}%` },
  { header: "DELAY", value: ({ event_loop_lag_ms }) => formatMs(event_loop_lag_ms) },
  { header: "PID", value: ({ pid }) => String(pid) },
  { header: "IN FLIGHT", value: ({ in_flight }) => String(in_flight) },
  { header: "WRITES", value: ({ writes_waiting }) => String(writes_waiting) },
];

const tenantColumns: Column<Tenant>[] = [
  { header: "STORE", value: ({ namespace }) => namespace },
  { header: "REQ/S", value: ({ per_second }) => formatCount(per_second), whole: true },
  { header: "ERRORS/S", value: ({ errors_per_second }) => formatCount(errors_per_second), whole: true },
  { header: "IN ALL", value: ({ total }) => String(total), whole: true },
];

const routeColumns: Column<Route>[] = [
  { header: "ROUTE", value: ({ method, route }) => `${method} ${route}` },
  { header: "REQ/S", value: ({ per_second }) => formatCount(per_second), whole: true },
  { header: "P50", value: ({ latency_ms }) => formatMs(latency_ms.p50), whole: true },
  { header: "P99", value: ({ latency_ms }) => formatMs(latency_ms.p99), whole: true },
];
