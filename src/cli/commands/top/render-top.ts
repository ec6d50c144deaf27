import { formatBytes, formatDuration } from "../../../server/values/units.ts";
import { bold, type Column, escapeControls, layOutTable, wrapWords } from "../../terminal/text.ts";
import { byRate, type ServerActivity } from "./compare-status.ts";

interface Canvas {
  columns: number;
  rows: number | undefined;
  color: boolean;
  note?: string | undefined;
}

const signInResults = ["succeeded", "failed", "limited", "two_factor"] as const;
const labelWidth = 11;
const maxRows = 20;

export function renderTop(activity: ServerActivity, { columns, rows, color, note }: Canvas): string[] {
  const { version, url, uptime_seconds, workers } = activity;
  const processCount = workers === 1 ? "1 process" : `${workers} workers`;
  const server = [`Bodega ${version}`, `up ${formatDuration(uptime_seconds * 1000)}`, processCount, url];
  const head = note ?? server.map(escapeControls).join("  ");
  const lines = wrapWords(head, columns).map((line) => bold(line, color));
  for (const [label, parts] of summarize(activity)) {
    const wrapped = wrapWords(parts.join("  "), columns - labelWidth);
    lines.push(...wrapped.map((line, index) => bold((index === 0 ? label : "").padEnd(labelWidth), color) + line));
  }
  const addTable = <Row>(all: readonly Row[], table: Column<Row>[], count: number) => {
    if (all.length === 0) return;
    const { text } = layOutTable(all.slice(0, count), table, { width: columns, color });
    lines.push("", ...text.trimEnd().split("\n"));
  };
  const active = activity.routes.filter(({ per_second }) => per_second > 0);
  const isWhole = rows === undefined;
  addTable(activity.processes, processColumns, isWhole ? 64 : 4);
  addTable(activity.tenants, storeColumns, isWhole ? maxRows : 5);
  addTable(active.length > 0 ? active : activity.routes, routeColumns, maxRows);
  return lines.slice(0, rows);
}

function summarize(activity: ServerActivity): [label: string, parts: string[]][] {
  const { latency_ms, statuses, errors, sign_ins, queues } = activity;
  const { per_second, in_flight, total } = activity.requests;
  const { p50, p95, p99 } = latency_ms;
  const problems = findProblems(activity);
  return [
    ...(problems.length === 0 ? [] : [["Problems", problems] satisfies [string, string[]]]),
    ["Requests", [`${formatRate(per_second)}/s`, `${in_flight} in flight`, `${total} in total`]],
    ["Latency", [`p50 ${formatMs(p50)}`, `p95 ${formatMs(p95)}`, `p99 ${formatMs(p99)}`]],
    ["Errors", listRates(errors)],
    ["Responses", listRates(statuses)],
    ["Database", describeDatabase(activity)],
    ["Queues", Object.entries(queues ?? {}).map(([name, { waiting }]) => `${name} ${waiting}`)],
    ["Sign-ins", signInResults.map((result) => `${result.replace("_", "-")} ${sign_ins[result].total}`)],
  ];
}

function findProblems(activity: ServerActivity): string[] {
  const { processes, queues, last_backup_failed_at, last_restore_test_failed_at, replication } = activity;
  const failed = Object.entries(queues ?? {}).filter(([, queue]) => queue.failed > 0);
  return [
    ...processes
      .filter(({ answers }) => !answers)
      .map(({ name, pid }) => `worker ${name} ${pid === null ? "does not run" : "hangs"}`),
    ...new Set(processes.flatMap(({ unready }) => (unready ? [`not ready: ${escapeControls(unready)}`] : []))),
    ...(replication?.failure ? ["replication fails"] : []),
    ...(last_backup_failed_at === null ? [] : ["last backup failed"]),
    ...(last_restore_test_failed_at === null ? [] : ["last restore test failed"]),
    ...failed.map(([name, queue]) => `${queue.failed} ${name} failed`),
  ];
}

function describeDatabase({ at, last_backup_at: last, database, replication }: ServerActivity): string[] {
  const { kind, bytes, disk_free_bytes: free, wal_bytes: wal } = database;
  return [
    bytes === null ? kind : formatBytes(bytes),
    ...(free === null ? [] : [`${formatBytes(free)} free`]),
    last === null ? "no backup" : `backup ${formatDuration(Date.parse(at) - Date.parse(last))} ago`,
    ...(replication === null ? [] : [`replica ${replication.lag_seconds.toFixed(1)} s behind`]),
    ...(wal === null ? [] : [`WAL ${formatBytes(wal)}`]),
  ];
}

/** Lists current rates, the highest first. Shows the total instead of a rate of 0. */
function listRates(rates: ServerActivity["errors"]): string[] {
  const all = Object.entries(rates).toSorted(([, a], [, b]) => byRate(a, b));
  const format = ({ per_second, total }: (typeof all)[0][1]) =>
    per_second > 0 ? `${formatRate(per_second)}/s` : total;
  return all.length === 0 ? ["none"] : all.map(([name, rate]) => `${name}: ${format(rate)}`);
}

const processColumns: Column<ServerActivity["processes"][number]>[] = [
  { header: "PROCESS", value: ({ name, answers, pid }) => (answers ? name : `${name} (${pid ? "hangs" : "down"})`) },
  { header: "MEMORY", value: ({ memory_bytes }) => formatBytes(memory_bytes) },
  { header: "CPU", value: ({ cpu_percent }) => `${Math.round(cpu_percent)}%` },
  { header: "LAG", value: ({ event_loop_lag_ms }) => formatMs(event_loop_lag_ms) },
  { header: "PID", value: ({ pid }) => String(pid ?? "-") },
  { header: "IN FLIGHT", value: ({ in_flight }) => String(in_flight) },
  { header: "WRITES", value: ({ writes_waiting }) => String(writes_waiting) },
];

const storeColumns: Column<ServerActivity["tenants"][number]>[] = [
  { header: "STORE", value: ({ namespace }) => namespace },
  { header: "REQUESTS/S", value: ({ per_second }) => formatRate(per_second) },
  { header: "ERRORS/S", value: ({ errors_per_second }) => formatRate(errors_per_second) },
  { header: "TOTAL", value: ({ total }) => String(total) },
];

const routeColumns: Column<ServerActivity["routes"][number]>[] = [
  { header: "ROUTE", value: ({ method, route }) => `${method} ${route}` },
  { header: "REQUESTS/S", value: ({ per_second }) => formatRate(per_second) },
  { header: "P50", value: ({ latency_ms }) => formatMs(latency_ms.p50) },
  { header: "P99", value: ({ latency_ms }) => formatMs(latency_ms.p99) },
];

/** `0.42 ms`, `12 ms`, `1.5 s`; `-` for null. */
function formatMs(ms: number | null): string {
  if (ms === null) return "-";
  if (ms >= 999.5) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 9.95 ? Math.round(ms) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}

function formatRate(count: number): string {
  return count >= 9.95 || count === 0 ? String(Math.round(count)) : count.toFixed(1);
}
