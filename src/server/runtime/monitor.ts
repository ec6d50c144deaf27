import type { Config } from "../config/config.ts";
import type { Database } from "../db/session.ts";
import { AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { openControlSocket } from "../monitoring/control-socket.ts";
import type { DatabaseFigures } from "../monitoring/database-figures.ts";
import { createChannel, type Question } from "../monitoring/process-channel.ts";
import { monitorProcess, type ProcessMonitor } from "../monitoring/process-monitor.ts";
import { WorkerRegistry } from "../monitoring/worker-registry.ts";
import type { KeyPair } from "../tls/certificate.ts";
import type { Listener } from "./listen.ts";

/** What the listener of an answering process counts with, and what `/metrics` answers there. */
export interface Watched extends Pick<ProcessMonitor, "meter" | "recentRequests"> {
  metricsText: () => Promise<string>;
}

/** How a server is watched by the process that speaks for all of its workers. */
export interface Watching extends Watched {
  registry: WorkerRegistry | undefined;
  /** Has all workers present a certificate. Throws when one of them cannot. */
  presentEverywhere(pair: KeyPair): Promise<void>;
  /**
   * Opens the control socket, and the listener for metrics where one is wanted.
   * @param url where the server answers.
   * @returns the address of the metrics, where there is a listener.
   * @throws unavailable when the listener's port cannot be had.
   */
  open(url: string): Promise<string | undefined>;
  stop(): void;
}

/** How often a worker tells what it has counted, so that little is lost with one that is killed. */
const tellMs = 2000;
/** The server itself waits half a second for workers that hang. */
const timeoutMs = 2000;
/** A parent has a certificate at hand; it may have much to do while all workers start. */
const certificateWithinMs = 10_000;

interface WatchOptions {
  version: string;
  log: LogWriter;
  /** When the certificate that is presented ends, in epoch milliseconds; undefined without one. */
  certificateEnd: () => number | undefined;
  /** What a worker presents that starts now. */
  certificate: () => KeyPair | undefined;
}

/** Begins to watch a server: the only process, or the parent of workers. */
export function startWatching(config: Config, db: Database, options: WatchOptions): Watching {
  const { version, log, certificateEnd } = options;
  const { dataDir, workers, metrics, metricsToken } = config;
  const own = monitorProcess(db);
  let url = "";
  const answer = ({ kind }: Question) => {
    if (kind === "metrics") return metricsText();
    if (kind !== "certificate") return undefined;
    const { cert, key } = options.certificate() ?? {};
    return { cert, key };
  };
  const registry = workers > 1 ? new WorkerRegistry({ answer, notice: log.notice }) : undefined;
  const looking = registry && setInterval(() => registry.checkSilence(), tellMs);
  looking?.unref();
  let readDatabase: (() => Promise<DatabaseFigures>) | undefined;
  // What tells of all this is loaded once somebody asks: most servers are never asked, and should not carry it.
  const status = async () => {
    const { createDatabaseReader } = await import("../monitoring/database-figures.ts");
    const { readStatus } = await import("../monitoring/read-status.ts");
    readDatabase ??= createDatabaseReader({ db, dataDir, certificateEnd, now: Date.now });
    return readStatus({ version, url, workers, readOwn: own.read, readDatabase, registry });
  };
  const metricsText = async (): Promise<string> => {
    const { renderMetrics } = await import("../monitoring/metrics/prometheus.ts");
    return renderMetrics(await status());
  };
  const findRequest = async (id: string) => own.recentRequests.find(id) ?? (await registry?.findRequest(id)) ?? null;
  let socket: { close(): void } | null = null;
  let listener: { url: string; stop(): void } | undefined;
  return {
    meter: own.meter,
    recentRequests: own.recentRequests,
    metricsText,
    registry,
    async presentEverywhere({ cert, key }) {
      const answers = await registry?.askAll({ kind: "present", cert, key }, timeoutMs);
      const failure = answers?.find((answer) => typeof answer === "string");
      if (failure !== undefined) throw new Error(`A worker: ${failure}`);
    },
    async open(at) {
      url = at;
      if (metrics) {
        const { listenForMetrics } = await import("../monitoring/metrics/http.ts");
        listener = listenForMetrics({ ...metrics, token: metricsToken, text: metricsText });
        if (metricsToken === undefined && !isLoopback(metrics.host)) {
          log.notice(
            "warn",
            `whoever reaches ${listener.url} can read the figures; BODEGA_METRICS_TOKEN protects them`,
          );
        }
      }
      try {
        socket = await openControlSocket(dataDir, { status, metrics: metricsText, findRequest });
        if (socket === null) log.notice("warn", `bodega top shows another server, which has ${dataDir} as well`);
      } catch (error) {
        // The shop matters more than being watched.
        log.notice("warn", error instanceof AppError ? error.message : "The control socket cannot be opened.");
      }
      return listener?.url;
    },
    stop() {
      clearInterval(looking);
      socket?.close();
      listener?.stop();
      own.stop();
    },
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[\d.]+$/.test(host);
}

/** How a worker is watched, and led, by its server. */
export interface WorkerWatching extends Watched {
  /**
   * Asks what to present.
   * @throws unavailable when the server does not say.
   */
  fetchCertificate(): Promise<KeyPair>;
  /** Presents the certificates that the server sends, those sent before this call included. */
  follow(listener: Pick<Listener, "present">): void;
  stop(): void;
}

/** Begins to watch a worker, which tells its server what it counts. */
export function watchWorker(db: Database): WorkerWatching {
  const followed = Promise.withResolvers<Pick<Listener, "present">>();
  const own = monitorProcess(db);
  const answer = (question: Question) => {
    if (question.kind === "figures") return own.read();
    if (question.kind === "present") {
      return followed.promise.then(({ present }) => present(question)).then(() => true, describeFault);
    }
    return question.kind === "recent request" ? own.recentRequests.find(question.requestId) : undefined;
  };
  const channel = createChannel({ send: (message) => process.send?.(message), answer });
  process.on("message", channel.receive);
  const timer = setInterval(() => channel.report(own.read()), tellMs);
  timer.unref();
  return {
    meter: own.meter,
    recentRequests: own.recentRequests,
    async metricsText() {
      const text = await channel.ask({ kind: "metrics" }, timeoutMs);
      if (typeof text !== "string") throw unavailable("The server's own process does not answer.");
      return text;
    },
    async fetchCertificate() {
      const { cert, key } = ((await channel.ask({ kind: "certificate" }, certificateWithinMs)) ??
        {}) as Partial<KeyPair>;
      if (cert === undefined || key === undefined) throw unavailable("The server does not say its certificate.");
      return { cert, key };
    },
    follow: followed.resolve,
    stop() {
      clearInterval(timer);
      channel.report(own.read());
      own.stop();
    },
  };
}
