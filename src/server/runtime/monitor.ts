import type { Config } from "../config/config.ts";
import type { Database } from "../db/session.ts";
import { AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { type ControlAnswers, openControlSocket } from "../monitoring/listeners.ts";
import { monitorProcess } from "../monitoring/process-monitor.ts";
import { createChannel, type IpcRequest, WorkerRegistry } from "../monitoring/worker-registry.ts";
import type { ReplicationStatus } from "../replication/place-health.ts";
import type { Certificate } from "../tls/certificate.ts";

export type ServerMonitor = ReturnType<typeof startMonitor>;

export type Monitor = Pick<ServerMonitor, "meter" | "recentRequests" | "metricsText">;

/** How often workers are asked for their figures. A killed worker loses the counts since its last answer. */
const checkMs = 2000;
/** How long a worker waits for metrics of the main process, which waits half a second for workers that hang. */
const timeoutMs = 2000;

interface MonitorOptions extends Pick<ControlAnswers, "startSuccessor" | "listens"> {
  version: string;
  log: LogWriter;
  certificate: () => Certificate | undefined;
  replication: () => ReplicationStatus | undefined;
}

/** Collects the figures of this process and its workers. Code that renders them is loaded at the first request. */
export function startMonitor(config: Config, db: Database, options: MonitorOptions) {
  const { log, certificate } = options;
  const { dataDir, workers } = config;
  const own = monitorProcess(db);
  let url = "";
  const answer = ({ kind }: IpcRequest) => (kind === "metrics" ? metricsText() : undefined);
  const registry = workers > 1 ? new WorkerRegistry({ answer, notice: log.notice }) : undefined;
  const polling = registry && setInterval(() => registry.checkSilence(), checkMs);
  polling?.unref();
  const status = async () => {
    const { readDatabaseFigures } = await import("../monitoring/database-figures.ts");
    const { readStatus } = await import("../monitoring/read-status.ts");
    const database = await readDatabaseFigures({ db, dataDir, certificateEnd: certificate()?.until });
    return readStatus({ ...options, url, workers, own: own.read(), database, registry });
  };
  const metricsText = async (): Promise<string> => {
    const { renderMetrics } = await import("../monitoring/metrics/prometheus.ts");
    return renderMetrics(await status());
  };
  const findRequest = async (id: string) => own.recentRequests.get(id) ?? (await registry?.findRequest(id)) ?? null;
  let socket: { close(): void } | null = null;
  return {
    ...own,
    metricsText,
    registry,
    async open(at: string) {
      url = at;
      try {
        socket = await openControlSocket(dataDir, { ...options, status, findRequest });
        if (socket === null)
          log.notice("warn", `another server uses ${dataDir} too; bodega doctor reaches only that server`);
      } catch (error) {
        // The server can run without monitoring, so this is only a warning.
        log.notice("warn", error instanceof AppError ? error.message : "The control socket cannot be opened.");
      }
    },
    stop() {
      clearInterval(polling);
      socket?.close();
      own.stop();
    },
  };
}

export function startWorkerMonitor(db: Database) {
  const own = monitorProcess(db);
  const answer = (request: IpcRequest) => {
    if (request.kind === "figures") return own.read();
    return request.kind === "recent request" ? own.recentRequests.get(request.requestId) : undefined;
  };
  const channel = createChannel({ send: (message) => process.send?.(message), answer });
  process.on("message", channel.receive);
  return {
    ...own,
    async metricsText() {
      const text = await channel.request({ kind: "metrics" }, timeoutMs);
      if (typeof text !== "string") throw unavailable("The server's main process does not answer.");
      return text;
    },
  };
}
