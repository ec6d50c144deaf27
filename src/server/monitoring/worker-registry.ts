import type { Subprocess } from "bun";
import { attempt } from "../values/attempt.ts";
import { addCounts, type Counts } from "./metrics/meter.ts";
import type { ProcessFigures, RecentRequest } from "./process-monitor.ts";

export type IpcRequest = { kind: "figures" } | { kind: "recent request"; requestId: string } | { kind: "metrics" };

type Message = { kind: "request"; id: number; request: IpcRequest } | { kind: "answer"; id: number; value: unknown };

interface ChannelEnd {
  /** May throw when the other end is gone. */
  send: (message: unknown) => void;
  answer: (request: IpcRequest) => unknown;
}

/** Creates one end of the channel between a server and one of its workers. */
export function createChannel({ send, answer }: ChannelEnd) {
  const waiting = new Map<number, (value: unknown) => void>();
  let lastId = 0;

  // If the other end is gone, the error is ignored, because `request` then times out.
  const post = (message: Message) => attempt(() => send(message));

  const reply = async (id: number, request: IpcRequest) => post({ kind: "answer", id, value: await answer(request) });

  return {
    /** Returns the answer of the other end; undefined if no answer arrives in time. */
    request(request: IpcRequest, timeoutMs: number): Promise<unknown> {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const timer = setTimeout(resolve, timeoutMs, undefined);
      waiting.set(id, resolve);
      post({ kind: "request", id, request });
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    receive(given: unknown): void {
      if (typeof given !== "object" || given === null || !("kind" in given)) return;
      const message = given as Message;
      // After an error, nothing is sent, and the request times out at the other end.
      if (message.kind === "request") reply(message.id, message.request).catch(() => {});
      else if (message.kind === "answer") waiting.get(message.id)?.(message.value);
    },
  };
}

/** After so many unanswered checks, a worker is reported as hanging; after `killAfterChecks`, it is killed. */
const maxSilentChecks = 3;
const killAfterChecks = 5;
/** Figures of a worker that does not run, or has not answered yet. */
export const noFigures: ProcessFigures = {
  ...{ memory_bytes: 0, cpu_seconds: 0, event_loop_lag_ms: 0, in_flight: 0, writes_waiting: 0, write_wait_ms: 0 },
  ...{ pid: null, unready: null, started_at: new Date(0).toISOString(), counts: { routes: [], tenants: [] } },
};

interface Worker {
  /** The number of the worker, from 1. Its replacement gets the same number. */
  place: number;
  label: string;
  child: Pick<Subprocess, "pid" | "kill"> | undefined;
  silentChecks: number;
  channel: ReturnType<typeof createChannel>;
  last: ProcessFigures | undefined;
}

interface RegistryOptions extends Pick<ChannelEnd, "answer"> {
  /** A hanging worker delays the figures of the other workers by at most this time. */
  timeoutMs?: number;
  notice?: (level: "info" | "warn" | "error", message: string) => void;
}

export class WorkerRegistry {
  readonly #workers = new Set<Worker>();
  readonly #options: Required<RegistryOptions>;
  endedCounts: Counts = { routes: [], tenants: [] };

  constructor(options: RegistryOptions) {
    this.#options = { timeoutMs: 500, notice: () => {}, ...options };
  }

  /** Adds a started worker. Call `remove` when it has ended; its counts stay in the totals. */
  add(place: number, send: (message: unknown) => void, child?: Worker["child"]) {
    const { answer, notice } = this.#options;
    const channel = createChannel({ send, answer });
    const label = `worker ${place}${child === undefined ? "" : ` (process ${child.pid})`}`;
    const worker: Worker = { place, label, child, silentChecks: 0, channel, last: undefined };
    this.#workers.add(worker);
    return {
      receive: (message: unknown) => {
        if (worker.silentChecks >= maxSilentChecks) notice("info", `${label} answers again`);
        worker.silentChecks = 0;
        channel.receive(message);
      },
      remove: () => {
        if (!this.#workers.delete(worker) || worker.last === undefined) return;
        this.endedCounts = addCounts([this.endedCounts, worker.last.counts]);
      },
    };
  }

  /**
   * Reads the figures of all workers, and kills workers that did not answer for several calls. Calls are counted instead
   * of time, because time also passes while the machine sleeps.
   */
  checkSilence(): void {
    void this.readFigures();
    const { notice } = this.#options;
    for (const worker of this.#workers) {
      const checks = ++worker.silentChecks;
      const { label, child } = worker;
      if (checks === maxSilentChecks)
        notice("warn", `${label} hangs or is overloaded: it has not answered for several seconds`);
      if (checks !== killAfterChecks) continue;
      notice("error", `${label} still does not answer and is killed`);
      child?.kill("SIGKILL");
    }
  }

  /** Returns the figures of all workers that have ever answered. If one does not answer now, these are its last figures. */
  async readFigures(): Promise<{ name: string; figures: ProcessFigures; answers: boolean }[]> {
    const requested = [...this.#workers].map(async (worker) => {
      const figures = await worker.channel.request({ kind: "figures" }, this.#options.timeoutMs);
      worker.last = (figures as ProcessFigures | undefined) ?? worker.last;
      return { worker, answers: figures !== undefined };
    });
    return (await Promise.all(requested)).flatMap(({ worker, answers }) => {
      const { last, place } = worker;
      // `endedCounts` already includes a worker that ended during the call, so its figures are not added again.
      return last && this.#workers.has(worker) ? [{ name: String(place), figures: last, answers }] : [];
    });
  }

  async findRequest(requestId: string): Promise<RecentRequest | null> {
    const { timeoutMs } = this.#options;
    const find = ({ channel }: Worker) => channel.request({ kind: "recent request", requestId }, timeoutMs);
    const answers = await Promise.all([...this.#workers].map(find));
    return (answers.find(Boolean) as RecentRequest | undefined) ?? null;
  }
}
