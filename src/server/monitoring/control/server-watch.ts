import { codeOf } from "../../errors.ts";
import { addCounts, addRecords, type Counts, countAnswers, joinLatencies } from "../metrics/counts.ts";
import type { DatabaseFigures } from "../metrics/database-figures.ts";
import type { ProcessFigures } from "../metrics/process-figures.ts";
import { busiest } from "../metrics/tenant-meter.ts";
import type { ProcessStatus, ServerStatus } from "./status.ts";
import type { PlaceFigures, WorkerDesk } from "./worker-desk.ts";

/** Stores that are told of by name. */
const maxTenants = 20;
const signIn = "/auth/login/";

interface StatusDeps {
  version: string;
  url: string;
  /** Processes that answer. */
  workers: number;
  /** What the process that speaks for all says of itself. */
  readOwn: () => ProcessFigures;
  readDatabase: () => Promise<DatabaseFigures>;
  /** Undefined where this process answers itself. */
  desk: WorkerDesk | undefined;
}

/** What a server says of itself and all of its workers. */
export async function readStatus(deps: StatusDeps): Promise<ServerStatus> {
  const { version, url, workers, readOwn, readDatabase, desk } = deps;
  const own = readOwn();
  const database = await readDatabase();
  const places = (await desk?.read()) ?? [];
  const everyone = [own, ...places.map(({ figures }) => figures)].map(({ counts }) => counts);
  const counts = addCounts(desk === undefined ? everyone : [desk.departed(), ...everyone]);
  return {
    version,
    pid: own.pid,
    started_at: own.startedAt,
    at: new Date().toISOString(),
    url,
    workers,
    processes: [describeProcess("main", own, true), ...places.map(describePlace)],
    ...describeCounts(counts),
    requests: {
      total: sum(counts.routes.map(countAnswers)),
      in_flight: sum([own, ...places.map(({ figures }) => figures)].map(({ inFlight }) => inFlight)),
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
        requests: countAnswers(one),
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
    tenants: busiest(tenants).slice(0, maxTenants),
  };
}

function describePlace({ place, figures, answers }: PlaceFigures): ProcessStatus {
  return describeProcess(String(place), figures, answers);
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

/** Tenths of a millisecond. */
function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
