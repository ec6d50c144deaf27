import { codeOf } from "../errors.ts";
import type { ReplicationStatus } from "../replication/place-health.ts";
import { sumOf } from "../values/money.ts";
import type { DatabaseFigures } from "./database-figures.ts";
import { addCounts, addRoutes, type RouteStatus, sortByRequests } from "./metrics/meter.ts";
import type { ProcessFigures } from "./process-monitor.ts";
import { noFigures, type WorkerRegistry } from "./worker-registry.ts";

const maxTenants = 20;

interface StatusDeps {
  version: string;
  url: string;
  workers: number;
  own: ProcessFigures;
  database: DatabaseFigures;
  replication: () => ReplicationStatus | undefined;
  registry: WorkerRegistry | undefined;
}

export type ServerStatus = Awaited<ReturnType<typeof readStatus>>;

/** Returns the status of a server with its workers. Counters never decrease while it runs. Times are RFC 3339. */
export async function readStatus(deps: StatusDeps) {
  const { version, url, workers, own, database, registry } = deps;
  const running = (await registry?.readFigures()) ?? [];
  const places = Array.from({ length: registry ? workers : 0 }, (_, index) => String(index + 1));
  const all = [
    { name: "main", answers: true, figures: own },
    ...places.map((name) => running.find((one) => one.name === name) ?? { name, answers: false, figures: noFigures }),
  ];
  const figures = all.map(({ figures }) => figures);
  const counts = figures.map(({ counts }) => counts);
  const { routes, tenants } = addCounts(registry ? [registry.endedCounts, ...counts] : counts);
  return {
    version,
    pid: process.pid,
    started_at: own.started_at,
    url,
    workers,
    /** `name` is `main` or the number of a worker. If a worker does not run or answer, these are its last figures. */
    processes: all.map(({ name, answers, figures: { counts, ...figures } }) => ({ name, answers, ...figures })),
    in_flight: sumOf(figures, ({ in_flight }) => in_flight),
    routes,
    sign_ins: countSignIns(routes),
    tenants: sortByRequests(tenants).slice(0, maxTenants),
    replication: deps.replication() ?? null,
    ...database,
  };
}

function countSignIns(routes: readonly RouteStatus[]) {
  const logins = routes.filter(({ method, route }) => method === "POST" && route === "/auth/login/");
  const { statuses, errors } = addRoutes(logins);
  const count = (kind: Parameters<typeof codeOf>[0]) => errors[codeOf(kind)] ?? 0;
  return {
    succeeded: statuses[200] ?? 0,
    failed: count("invalidLogin"),
    /** The password was right, and a one-time code was requested. */
    two_factor: count("twoFactorRequired"),
    limited: count("tooManyAuthAttempts") + count("tooManyAttempts"),
  };
}
