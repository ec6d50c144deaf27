import type { Subprocess } from "bun";
import { type Config, inheritConfig } from "../config/config.ts";
import { workingDir } from "../config/data-dir.ts";
import { errnoOf, unavailable } from "../errors.ts";
import { lastWritesMs } from "../modules/views/view-buffer.ts";
import type { WorkerRegistry } from "../monitoring/worker-registry.ts";
import type { JobOptions } from "./background-jobs.ts";

interface WorkerOptions extends Pick<JobOptions, "command" | "env" | "log"> {
  registry: WorkerRegistry;
}

interface StartedWorker {
  place: number;
  workers: Set<Subprocess>;
  ready: PromiseWithResolvers<void>;
  onEnd: (what: string) => void;
}

/** If a worker ends within this time after its start, the delay before its replacement doubles. */
const minUptimeMs = 10_000;
/** The minimum delay. A stop signal may reach a worker first; within this time, it also reaches this process. */
const minDelayMs = 100;
const maxDelayMs = 10_000;

export async function startWorkers(config: Config, options: WorkerOptions) {
  const { log } = options;
  const workers = new Set<Subprocess>();
  const killAll = () => {
    for (const worker of workers) worker.kill("SIGKILL");
  };
  // A worker must not keep the port after this process has ended, so all workers are killed.
  process.on("exit", killAll);
  let isStopping = false;

  function start(place: number, ready: PromiseWithResolvers<void>, lastDelayMs = 0): void {
    const startedAt = performance.now();
    const onEnd = (what: string) => {
      const isFailing = performance.now() - startedAt < minUptimeMs;
      const delayMs = Math.min(maxDelayMs, Math.max(minDelayMs, isFailing ? lastDelayMs * 2 : 0));
      setTimeout(() => {
        if (isStopping) return;
        log.notice("error", `${what}; starting another`);
        start(place, ready, delayMs);
      }, delayMs).unref();
    };
    try {
      startWorker(config, options, { place, workers, ready, onEnd });
    } catch (error) {
      ready.reject(error);
      onEnd(`worker ${place} cannot be started (${errnoOf(error)})`);
    }
  }

  /** Kills the remaining workers after `graceMs` and the time for their last writes. */
  async function stop(graceMs: number): Promise<void> {
    isStopping = true;
    for (const worker of workers) worker.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
    setTimeout(killAll, graceMs + lastWritesMs + 2000).unref();
    await Promise.all([...workers].map((worker) => worker.exited));
  }

  try {
    const started = Array.from({ length: config.workers }, (_, index) => {
      const ready = Promise.withResolvers<void>();
      start(index + 1, ready);
      return ready.promise;
    });
    await Promise.all(started);
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { stop };
}

/**
 * Starts a worker. `ready` resolves when the worker answers requests. If the worker ends by itself before, `ready`
 * rejects; if it is killed, `ready` waits for its replacement.
 */
function startWorker(config: Config, options: WorkerOptions, started: StartedWorker): void {
  const { place, workers, ready, onEnd } = started;
  const inherited = { ...config, isWorker: true, backupEveryMs: undefined };
  const worker = Bun.spawn([...options.command, "serve"], {
    // A worker runs in the data directory. The current directory may be removed, for example with an old release.
    ...workingDir(config.dataDir),
    env: inheritConfig(inherited, options.env),
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc(message) {
      if (message === "ready") ready.resolve();
      registered?.receive(message);
    },
    onExit(ended, exitCode, signal) {
      workers.delete(ended);
      registered?.remove();
      if (signal === null) ready.reject(unavailable("A worker ended before it answered requests. See the log."));
      onEnd(`worker ${ended.pid} ended (${signal === null ? `exit code ${exitCode}` : `signal ${signal}`})`);
    },
  });
  workers.add(worker);
  const registered = options.registry.add(place, (message) => worker.send(message), worker);
}
