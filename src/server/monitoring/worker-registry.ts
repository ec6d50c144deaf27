import { addCounts, type Counts } from "./metrics/counts.ts";
import { createChannel, type ProcessChannel, type Question } from "./process-channel.ts";
import type { ProcessFigures } from "./process-monitor.ts";
import type { RecentRequest } from "./server-status.ts";

/** A worker that hangs delays the figures of the others by no more. */
const defaultTimeoutMs = 500;
/** After this many checks without a message a worker counts as hanging. */
const maxSilentChecks = 3;

/** A worker as its process is read and removed. */
export interface RegisteredWorker {
  /** Takes a message of the worker. */
  receive(message: unknown): void;
  /** Removes a worker that has ended; its counts stay in the totals. */
  remove(): void;
}

/** The figures of one worker. */
export interface WorkerFigures {
  place: number;
  figures: ProcessFigures;
  answers: boolean;
}

interface Worker {
  place: number;
  pid: number | undefined;
  /** Undefined until its first message. */
  silentChecks: number | undefined;
  channel: ProcessChannel;
  last: ProcessFigures | undefined;
}

interface RegistryOptions {
  /** Answers the questions of workers. */
  answer: (question: Question) => unknown;
  /** How long a worker may take to answer; half a second unless given. */
  timeoutMs?: number;
  /** Is told once when a worker hangs, and when it answers again. */
  notice?: (level: "info" | "warn", message: string) => void;
}

/** Knows the workers of a server, and what they count. */
export class WorkerRegistry {
  readonly #workers = new Set<Worker>();
  readonly #options: Required<RegistryOptions>;
  readonly #endedCpuSeconds = new Map<number, number>();
  #ended: Counts = { routes: [], tenants: [] };

  constructor(options: RegistryOptions) {
    this.#options = { timeoutMs: defaultTimeoutMs, notice: () => {}, ...options };
  }

  get size(): number {
    return this.#workers.size;
  }

  /** Counts of workers that have ended. */
  get endedCounts(): Counts {
    return this.#ended;
  }

  /** Adds a worker that was started in a place; it continues the counts of earlier workers there. */
  add(place: number, send: (message: unknown) => void, pid?: number): RegisteredWorker {
    const { answer, notice } = this.#options;
    const channel = createChannel({ send, answer, onReport: (value) => keepFigures(worker, value) });
    const worker: Worker = { place, pid, silentChecks: undefined, channel, last: undefined };
    this.#workers.add(worker);
    return {
      receive: (message) => {
        if ((worker.silentChecks ?? 0) >= maxSilentChecks) notice("info", `${nameOf(worker)} answers again`);
        worker.silentChecks = 0;
        channel.receive(message);
      },
      remove: () => {
        if (!this.#workers.delete(worker) || worker.last === undefined) return;
        this.#ended = addCounts([this.#ended, worker.last.counts]);
        this.#endedCpuSeconds.set(place, this.#endedCpuOf(place) + worker.last.cpuSeconds);
      },
    };
  }

  /**
   * Finds workers that hang; to be called as often as workers report. It counts checks instead of time, which goes on
   * while the machine sleeps.
   */
  checkSilence(): void {
    for (const worker of this.#workers) {
      if (worker.silentChecks === undefined) continue;
      worker.silentChecks += 1;
      if (worker.silentChecks !== maxSilentChecks) continue;
      this.#options.notice("warn", `${nameOf(worker)} hangs or is overloaded: it has not reported for several seconds`);
    }
  }

  /** The answers of all workers; undefined for one that does not answer in time. */
  askAll(question: Question, timeoutMs = this.#options.timeoutMs): Promise<unknown[]> {
    return Promise.all([...this.#workers].map(({ channel }) => channel.ask(question, timeoutMs)));
  }

  /** The figures of all workers by place; for one that does not answer, the last that it reported. */
  async readFigures(): Promise<WorkerFigures[]> {
    const asked = [...this.#workers].map(async (worker) => {
      const figures = await worker.channel.ask({ kind: "figures" }, this.#options.timeoutMs);
      keepFigures(worker, figures);
      return { worker, answers: figures !== undefined };
    });
    const known = (await Promise.all(asked)).toSorted((a, b) => a.worker.place - b.worker.place);
    return known.flatMap(({ worker: { place, last }, worker, answers }) => {
      // A worker that ended meanwhile is in `endedCounts` already.
      if (last === undefined || !this.#workers.has(worker)) return [];
      return [{ place, figures: { ...last, cpuSeconds: last.cpuSeconds + this.#endedCpuOf(place) }, answers }];
    });
  }

  /** Finds a request that any of the workers answered within the last minute. */
  async findRequest(requestId: string): Promise<RecentRequest | null> {
    const answers = await this.askAll({ kind: "recent request", requestId });
    return (answers.find(Boolean) as RecentRequest | undefined) ?? null;
  }

  #endedCpuOf(place: number): number {
    return this.#endedCpuSeconds.get(place) ?? 0;
  }
}

function nameOf({ place, pid }: Worker): string {
  return `worker ${place}${pid === undefined ? "" : ` (process ${pid})`}`;
}

function keepFigures(worker: Worker, value: unknown): void {
  if (typeof value === "object" && value !== null && "counts" in value) worker.last = value as ProcessFigures;
}
