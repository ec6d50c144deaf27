import type { Config } from "../config/config.ts";
import type { Database } from "../db/session.ts";
import { AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { createExchange, type Question } from "../monitoring/control/exchange.ts";
import { openControlSocket } from "../monitoring/control/socket.ts";
import { createWorkerDesk, type WorkerDesk } from "../monitoring/control/worker-desk.ts";
import type { DatabaseFigures } from "../monitoring/metrics/database-figures.ts";
import { type ProcessWatch, watchProcess } from "../monitoring/metrics/process-figures.ts";
import type { Listener } from "./listen.ts";
import type { PemPair } from "./port.ts";

/** What the listener of an answering process counts with, and what `/metrics` answers there. */
export interface Watched extends Pick<ProcessWatch, "meter" | "seen"> {
  metricsText: () => Promise<string>;
}

/** How a server is watched by the process that speaks for all of its workers. */
export interface Watching extends Watched {
  desk: WorkerDesk | undefined;
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
  certificate: () => PemPair | undefined;
}

/** Begins to watch a server: the only process, or the parent of workers. */
export function startWatching(config: Config, db: Database, options: WatchOptions): Watching {
  const { version, log, certificateEnd } = options;
  const { dataDir, workers, metrics, metricsToken } = config;
  const own = watchProcess(db);
  let url = "";
  const answer = ({ what }: Question) => {
    if (what === "metrics") return metricsText();
    if (what !== "certificate") return undefined;
    const { cert, key } = options.certificate() ?? {};
    return { cert, key };
  };
  const desk: WorkerDesk | undefined = workers > 1 ? createWorkerDesk(answer, undefined, log.notice) : undefined;
  const looking = desk && setInterval(desk.look, tellMs);
  looking?.unref();
  let readDatabase: (() => Promise<DatabaseFigures>) | undefined;
  // What tells of all this is loaded once somebody asks: most servers are never asked, and should not carry it.
  const status = async () => {
    const { createDatabaseReader } = await import("../monitoring/metrics/database-figures.ts");
    const { readStatus } = await import("../monitoring/control/server-watch.ts");
    readDatabase ??= createDatabaseReader({ db, dataDir, certificateEnd, now: Date.now });
    return readStatus({ version, url, workers, readOwn: own.read, readDatabase, desk });
  };
  const metricsText = async (): Promise<string> => {
    const { renderMetrics } = await import("../monitoring/metrics/prometheus.ts");
    return renderMetrics(await status());
  };
  const findSeen = async (id: string) => own.seen.find(id) ?? (await desk?.findSeen(id)) ?? null;
  let socket: { close(): void } | null = null;
  let listener: { url: string; stop(): void } | undefined;
  return {
    meter: own.meter,
    seen: own.seen,
    metricsText,
    desk,
    async open(at) {
      url = at;
      if (metrics) {
        const { listenForMetrics } = await import("../monitoring/metrics/listener.ts");
        listener = listenForMetrics({ ...metrics, token: metricsToken, text: metricsText });
        if (metricsToken === undefined && !isLoopback(metrics.host)) {
          log.notice(
            "warn",
            `whoever reaches ${listener.url} can read the figures; BODEGA_METRICS_TOKEN protects them`,
          );
        }
      }
      try {
        socket = await openControlSocket(dataDir, { status, metrics: metricsText, findSeen });
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
  fetchCertificate(): Promise<PemPair>;
  /** Has the sockets of this process take the steps that the server asks for, beginning with those asked before. */
  follow(listener: Pick<Listener, "step">): void;
  stop(): void;
}

/** Begins to watch a worker, which tells its server what it counts. */
export function watchWorker(db: Database): WorkerWatching {
  const followed = Promise.withResolvers<Pick<Listener, "step">>();
  const own = watchProcess(db);
  const answer = (question: Question) => {
    if (question.what === "figures") return own.read();
    if (question.what === "step") {
      return followed.promise.then(({ step }) => step(question.step)).catch(describeFault);
    }
    return question.what === "seen" ? own.seen.find(question.requestId) : undefined;
  };
  const exchange = createExchange({ send: (message) => process.send?.(message), answer });
  process.on("message", exchange.take);
  const timer = setInterval(() => exchange.tell(own.read()), tellMs);
  timer.unref();
  return {
    meter: own.meter,
    seen: own.seen,
    async metricsText() {
      const text = await exchange.ask({ what: "metrics" }, timeoutMs);
      if (typeof text !== "string") throw unavailable("The server's own process does not answer.");
      return text;
    },
    async fetchCertificate() {
      const { cert, key } = ((await exchange.ask({ what: "certificate" }, certificateWithinMs)) ??
        {}) as Partial<PemPair>;
      if (cert === undefined || key === undefined) throw unavailable("The server does not say its certificate.");
      return { cert, key };
    },
    follow: followed.resolve,
    stop() {
      clearInterval(timer);
      exchange.tell(own.read());
      own.stop();
    },
  };
}
