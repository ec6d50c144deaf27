import { codeOf } from "../errors.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import { addCounts, addRecords, type Counts, countResponses, joinLatencies, sortByRequests } from "./metrics/counts.ts";
import type { ProcessFigures } from "./process-monitor.ts";
import type { ProcessStatus, ServerStatus } from "./server-status.ts";
import type { WorkerRegistry } from "./worker-registry.ts";

/** This many stores are listed by name. */
const maxTenants = 20;
const signIn = "/auth/login/";

interface StatusDeps {
  version: string;
  url: string;
  /** Processes that answer requests. */
  workers: number;
  /** Figures of the main process. */
  readOwn: () => ProcessFigures;
  readDatabase: () => Promise<DatabaseFigures>;
  /** Undefined where the main process answers requests. */
  registry: WorkerRegistry | undefined;
}

/** The status of a server with all of its workers. */
export async function readStatus(deps: StatusDeps): Promise<ServerStatus> {
  const { version, url, workers, readOwn, readDatabase, registry } = deps;
  const own = readOwn();
  const database = await readDatabase();
  const workerFigures = (await registry?.readFigures()) ?? [];
  const all = [own, ...workerFigures.map(({ figures }) => figures)];
  const counts = addCounts([...(registry ? [registry.endedCounts] : []), ...all.map((one) => one.counts)]);
  return {
    version,
    pid: own.pid,
    started_at: own.startedAt,
    at: new Date().toISOString(),
    url,
    workers,
    processes: [
      describeProcess("main", own, true),
      ...workerFigures.map(({ place, figures, answers }) => describeProcess(String(place), figures, answers)),
    ],
    ...describeCounts(counts),
    requests: {
      total: sum(counts.routes.map(countResponses)),
      in_flight: sum(all.map(({ inFlight }) => inFlight)),
      statuses: addRecords(counts.routes.map(({ statuses }) => statuses)),
      errors: addRecords(counts.routes.map(({ errors }) => errors)),
      latency: joinLatencies(counts.routes),
    },
    ...database,
  };
}

function describeCounts({ routes, tenants }: Counts): Pick<ServerStatus, "routes" | "sign_ins" | "tenants"> {
  const logins = routes.filter(({ method, route }) => method === "POST" && route === signIn);
  const errors = addRecords(logins.map((login) => login.errors));
  const statuses = addRecords(logins.map((login) => login.statuses));
  return {
    routes: routes
      .map((one) => ({
        method: one.method,
        route: one.route,
        requests: countResponses(one),
        statuses: one.statuses,
        errors: one.errors,
        latency: joinLatencies([one]),
      }))
      .toSorted((a, b) => b.requests - a.requests),
    sign_ins: {
      succeeded: statuses[200] ?? 0,
      failed: errors[codeOf("invalidLogin")] ?? 0,
      two_factor: errors[codeOf("twoFactorRequired")] ?? 0,
      limited: (errors[codeOf("tooManyAuthAttempts")] ?? 0) + (errors[codeOf("tooManyAttempts")] ?? 0),
    },
    tenants: sortByRequests(tenants).slice(0, maxTenants),
  };
}

function describeProcess(name: string, figures: ProcessFigures, answers: boolean): ProcessStatus {
  return {
    name,
    pid: figures.pid,
    started_at: figures.startedAt,
    answers,
    memory_bytes: figures.memoryBytes,
    cpu_seconds: figures.cpuSeconds,
    event_loop_lag_ms: round(figures.lagMs),
    in_flight: figures.inFlight,
    writes_waiting: figures.writesWaiting,
    write_wait_ms: round(figures.writeWaitMs),
  };
}

/** Rounds to tenths of a millisecond. */
function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
