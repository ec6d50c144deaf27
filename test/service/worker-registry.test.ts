import { describe, expect, test } from "bun:test";
import { compareStatus } from "../../src/cli/commands/top/compare-status.ts";
import { renderTop } from "../../src/cli/commands/top/render-top.ts";
import { Meter } from "../../src/server/monitoring/metrics/meter.ts";
import { renderMetrics } from "../../src/server/monitoring/metrics/prometheus.ts";
import type { ProcessFigures } from "../../src/server/monitoring/process-monitor.ts";
import { readStatus } from "../../src/server/monitoring/read-status.ts";
import { createChannel, type IpcRequest, WorkerRegistry } from "../../src/server/monitoring/worker-registry.ts";
import { parseMetrics } from "../support/prometheus.ts";

/** Two ends of a pipe; messages arrive later, as between processes. */
function connect(answers: [(request: IpcRequest) => unknown, (request: IpcRequest) => unknown]) {
  const ends = answers.map((answer, index) =>
    createChannel({
      answer,
      send: (message) => queueMicrotask(() => ends[1 - index]?.receive(structuredClone(message))),
    }),
  );
  return ends as [ReturnType<typeof createChannel>, ReturnType<typeof createChannel>];
}

describe("the channel between two processes", () => {
  test("each answer resolves its own question, in any order", async () => {
    const slow = Promise.withResolvers<string>();
    const [here] = connect([() => undefined, ({ kind }) => (kind === "metrics" ? slow.promise : { answered: kind })]);
    const [metrics, figures] = [here.request({ kind: "metrics" }, 5000), here.request({ kind: "figures" }, 5000)];
    expect(await figures).toEqual({ answered: "figures" });
    slow.resolve("text");
    expect(await metrics).toBe("text");
  });

  test("a process that hangs, fails or has ended gives no answer, and `ask` times out", async () => {
    const hanging = connect([() => undefined, () => new Promise(() => {})])[0];
    const failing = connect([
      () => undefined,
      () => {
        throw new Error("no");
      },
    ])[0];
    const gone = createChannel({
      answer: () => undefined,
      send: () => {
        throw new Error("closed");
      },
    });
    for (const end of [hanging, failing, gone]) expect(await end.request({ kind: "figures" }, 1)).toBeUndefined();
  });

  test("other messages on the same pipe are ignored", () => {
    const [here] = connect([() => undefined, () => undefined]);
    for (const message of ["ready", null, undefined, 5, {}, { kind: "else" }]) {
      expect(() => here.receive(message)).not.toThrow();
    }
  });
});

describe("the counts of workers", () => {
  const figuresOf = (requests: number): ProcessFigures => {
    const meter = new Meter();
    for (let number = 0; number < requests; number++) meter.route("GET", "/a/").record(200, 1, undefined);
    const queue = { writes_waiting: 0, write_wait_ms: 0, unready: null };
    const load = { memory_bytes: 0, cpu_seconds: 0, event_loop_lag_ms: 0, in_flight: 0 };
    return { pid: 1, started_at: new Date(0).toISOString(), ...load, ...queue, counts: meter.read() };
  };

  /** A worker that answers with what `say` returns, or hangs if that is undefined. */
  function openRegistry(timeoutMs?: number) {
    const registry = new WorkerRegistry({ answer: () => undefined, ...(timeoutMs && { timeoutMs }) });
    const join = (place: number, say: () => ProcessFigures | undefined) => {
      const line = registry.add(place, (message) => {
        const { id } = message as { id: number };
        const value = say();
        if (value !== undefined) queueMicrotask(() => line.receive({ kind: "answer", id, value }));
      });
      return line;
    };
    const total = async () => {
      const counts = [registry.endedCounts, ...(await registry.readFigures()).map(({ figures }) => figures.counts)];
      return counts
        .flatMap(({ routes }) => routes.map(({ requests }) => requests))
        .reduce((sum, count) => sum + count, 0);
    };
    return { registry, join, total };
  }

  test("stay in the totals when a worker has ended and was replaced", async () => {
    const { registry, join, total } = openRegistry();
    const line = join(1, () => figuresOf(5));
    join(2, () => figuresOf(1));
    expect(await total()).toBe(6);
    line.remove();
    line.remove();
    expect(await total()).toBe(6);
    join(1, () => figuresOf(3));
    expect(await total()).toBe(9);
    expect((await registry.readFigures()).map(({ name }) => name).toSorted()).toEqual(["1", "2"]);
  });

  test("are 0 for a worker that does not run, which the status and the metrics report", async () => {
    const { registry, join } = openRegistry(20);
    join(2, () => figuresOf(1));
    let hangs = false;
    join(3, () => (hangs ? undefined : figuresOf(1)));
    await registry.readFigures();
    hangs = true;
    const none = { last_backup_at: null, last_backup_failed_at: null, last_restore_test_at: null };
    const figures = { queues: null, ...none, last_restore_test_failed_at: null, certificate_expires_at: null };
    const database = { kind: "file" as const, bytes: null, wal_bytes: null, disk_free_bytes: null };
    const read = { own: figuresOf(0), database: { ...figures, database }, replication: () => undefined };
    const status = await readStatus({ version: "1", url: "", workers: 3, registry, ...read });
    expect(status.processes.map(({ name, pid, answers }) => [name, pid, answers])).toEqual([
      ["main", 1, true],
      ["1", null, false],
      ["2", 1, true],
      ["3", 1, false],
    ]);
    const metrics = parseMetrics(renderMetrics(status));
    expect(["bodega_workers", "bodega_workers_configured"].map((name) => metrics.value(name))).toEqual([1, 3]);
    expect(["main", "1", "2", "3"].map((process) => metrics.value("bodega_process_up", { process }))).toEqual([
      1, 0, 1, 0,
    ]);
    const lines = renderTop(compareStatus(status, status), { columns: 100, rows: undefined, color: false });
    expect(lines).toContain("Problems   worker 1 does not run  worker 3 hangs");
  });

  test("are the last ones for a hanging worker, which is marked as not answering", async () => {
    const { registry, join, total } = openRegistry(20);
    let hangs = false;
    join(1, () => (hangs ? undefined : figuresOf(2)));
    expect(await total()).toBe(2);
    hangs = true;
    expect(await total()).toBe(2);
    expect((await registry.readFigures()).map(({ answers }) => answers)).toEqual([false]);
  });
});

test("a hanging worker is logged once, and again when it answers; after ten seconds it is killed, also at its start", async () => {
  const notices: string[] = [];
  const registry = new WorkerRegistry({
    answer: () => undefined,
    timeoutMs: 1,
    notice: (level, message) => notices.push(`${level}: ${message}`),
  });
  const killed: number[] = [];
  const [hanging, sound] = [1, 2, 3].map((place) =>
    registry.add(place, () => {}, { pid: 100 + place, kill: () => killed.push(place) }),
  );
  hanging?.receive("ready");
  const check = (times: number) => {
    for (let time = 0; time < times; time++) {
      sound?.receive("ready");
      registry.checkSilence();
    }
  };
  check(3);
  expect(notices.splice(0)).toEqual(
    [1, 3].map((n) => expect.stringMatching(new RegExp(`^warn: worker ${n} .process 10${n}. hangs`))),
  );
  check(1);
  hanging?.receive("ready");
  expect(notices.splice(0)).toEqual(["info: worker 1 (process 101) answers again"]);
  expect(killed).toEqual([]);
  check(3);
  expect(killed).toEqual([3]);
  check(5);
  expect(killed).toEqual([3, 1]);
});
