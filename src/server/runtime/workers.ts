import type { Subprocess } from "bun";
import { type Config, inheritConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { type AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { lastWritesMs } from "../modules/views/gatherer.ts";
import type { WorkerRegistry } from "../monitoring/worker-registry.ts";

/** Several processes that answer on one port. */
export interface WorkerGroup {
  /** Ends all of them: gently, and by force once `graceMs` and the time of their last writes are over. */
  stop(graceMs: number): Promise<void>;
  /** Settles when the group gives up, because its workers keep ending. */
  failed: Promise<AppError>;
}

/** A worker that ends sooner than this after its start has not recovered. */
const soundMs = 10_000;
const maxQuickEnds = 5;
/** A supervisor that stops the whole group may reach a worker first; the parent hears of it within this time. */
const pauseMs = 100;

/**
 * Starts the workers and keeps their number: one that ends is replaced.
 * @param command how this program is started again, without arguments.
 * @param env the environment of a worker, its configuration included.
 * @param registry collects the figures of the workers.
 * @throws unavailable when a worker cannot start.
 */
export async function startWorkers(
  config: Config,
  command: readonly string[],
  env: Record<string, string | undefined>,
  log: LogWriter,
  registry?: WorkerRegistry,
): Promise<WorkerGroup> {
  const workers = new Set<Subprocess>();
  // However this process ends, none of them stays behind with the port.
  process.on("exit", () => {
    for (const worker of workers) worker.kill("SIGKILL");
  });
  let isStopping = false;
  let quickEnds = 0;
  const giveUp = Promise.withResolvers<AppError>();

  /** @param place from 1; whoever replaces a worker takes its place. */
  function start(place: number): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const startedAt = performance.now();
    const worker = Bun.spawn([...command, "serve"], {
      env,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: (message) => {
        if (message === "ready") ready.resolve();
        registered?.receive(message);
      },
      onExit: (ended, exitCode, signal) => {
        workers.delete(ended);
        registered?.remove();
        ready.reject(unavailable("A worker ended before it could answer."));
        quickEnds = performance.now() - startedAt < soundMs ? quickEnds + 1 : 0;
        setTimeout(
          () => replace(place, ended.pid, signal === null ? `exit code ${exitCode}` : `signal ${signal}`),
          pauseMs,
        );
      },
    });
    workers.add(worker);
    const registered = registry?.add(place, (message) => worker.send(message), worker.pid);
    return ready.promise;
  }

  function replace(place: number, pid: number, how: string): void {
    if (isStopping) return;
    log.notice("error", `worker ${pid} ended (${how}); starting another`);
    if (quickEnds >= maxQuickEnds) giveUp.resolve(unavailable("Workers end as soon as they start; see the log."));
    else start(place).catch(() => {}); // Its own end is logged and counted like this one.
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true;
    for (const worker of workers) worker.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(
      () => {
        for (const worker of workers) {
          log.notice("warn", `worker ${worker.pid} has not ended in time and is killed`);
          worker.kill("SIGKILL");
        }
      },
      graceMs + lastWritesMs + 1000,
    );
    await Promise.all([...workers].map((worker) => worker.exited));
    clearTimeout(timer);
  }

  try {
    await Promise.all(Array.from({ length: config.workers }, (_, index) => start(index + 1)));
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { stop, failed: giveUp.promise };
}

/** The environment of a worker, which inherits the configuration except for the work that the parent does for all. */
export function workerEnvironment(config: Config, env: Environment): Environment {
  return inheritConfig({ ...config, isWorker: true, metrics: undefined, backupEveryMs: undefined }, env);
}
