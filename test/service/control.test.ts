import { describe, expect, test } from "bun:test";
import { createExchange, type Question } from "../../src/server/monitoring/control/exchange.ts";
import { SeenRequests } from "../../src/server/monitoring/control/seen.ts";
import { createWorkerDesk } from "../../src/server/monitoring/control/worker-desk.ts";
import { countAnswers } from "../../src/server/monitoring/metrics/counts.ts";
import { Meter } from "../../src/server/monitoring/metrics/meter.ts";
import type { ProcessFigures } from "../../src/server/monitoring/metrics/process-figures.ts";
import { createClock } from "../support/clock.ts";

/** Two ends of a pipe; what is sent arrives later, as between processes. */
function connect(answers: [(question: Question) => unknown, (question: Question) => unknown]) {
  const ends = answers.map((answer, index) =>
    createExchange({
      answer,
      send: (message) => queueMicrotask(() => ends[1 - index]?.take(structuredClone(message))),
    }),
  );
  return ends as [ReturnType<typeof createExchange>, ReturnType<typeof createExchange>];
}

describe("what two processes ask one another", () => {
  test("each answer reaches who asked for it, in whatever order they come", async () => {
    const slow = Promise.withResolvers<string>();
    const [here] = connect([() => undefined, ({ what }) => (what === "metrics" ? slow.promise : { answered: what })]);
    const [metrics, figures] = [here.ask({ what: "metrics" }, 5000), here.ask({ what: "figures" }, 5000)];
    expect(await figures).toEqual({ answered: "figures" });
    slow.resolve("text");
    expect(await metrics).toBe("text");
  });

  test("one that hangs, fails or has gone is no answer, and holds nobody up", async () => {
    const hanging = connect([() => undefined, () => new Promise(() => {})])[0];
    const failing = connect([
      () => undefined,
      () => {
        throw new Error("no");
      },
    ])[0];
    const gone = createExchange({
      answer: () => undefined,
      send: () => {
        throw new Error("closed");
      },
    });
    for (const end of [hanging, failing, gone]) expect(await end.ask({ what: "figures" }, 1)).toBeUndefined();
  });

  test("other messages on the same pipe are left alone", () => {
    const [here] = connect([() => undefined, () => undefined]);
    for (const message of ["ready", null, undefined, 5, {}, { kind: "else" }]) here.take(message);
  });
});

describe("what workers have counted", () => {
  const figuresOf = (requests: number, cpuSeconds = 0): ProcessFigures => {
    const meter = new Meter();
    for (let number = 0; number < requests; number++) meter.route("GET", "/a/").note(200, 1, undefined);
    const rest = { pid: 1, startedAt: "", memoryBytes: 0, lagMs: 0, inFlight: 0, writesWaiting: 0, writeWaitMs: 0 };
    return { ...rest, cpuSeconds, counts: meter.read() };
  };

  /** A worker whose answer is what `say` returns; undefined hangs. */
  function openDesk(timeoutMs?: number) {
    const desk = createWorkerDesk(() => undefined, timeoutMs);
    const join = (place: number, say: () => ProcessFigures | undefined) => {
      const line = desk.join(place, (message) => {
        const { id } = message as { id: number };
        const value = say();
        if (value !== undefined) queueMicrotask(() => line.take({ kind: "answer", id, value }));
      });
      return line;
    };
    const total = async () => {
      const counts = [desk.departed(), ...(await desk.read()).map(({ figures }) => figures.counts)];
      return counts.flatMap(({ routes }) => routes.map(countAnswers)).reduce((sum, count) => sum + count, 0);
    };
    return { desk, join, total };
  }

  test("stays counted when one has ended and another takes its place", async () => {
    const { desk, join, total } = openDesk();
    const line = join(1, () => figuresOf(5, 2));
    join(2, () => figuresOf(1));
    expect(await total()).toBe(6);
    line.leave();
    line.leave();
    expect(await total()).toBe(6);
    join(1, () => figuresOf(3, 1));
    expect(await total()).toBe(9);
    expect((await desk.read()).map(({ place, figures }) => [place, figures.cpuSeconds])).toEqual([
      [1, 3],
      [2, 0],
    ]);
  });

  test("is what one that hangs has told last, and says that it does not answer", async () => {
    const { desk, join, total } = openDesk(20);
    let hangs = false;
    const line = join(1, () => (hangs ? undefined : figuresOf(2)));
    expect(await total()).toBe(2);
    hangs = true;
    line.take({ kind: "tell", value: figuresOf(4) });
    expect(await total()).toBe(4);
    expect((await desk.read()).map(({ answers }) => answers)).toEqual([false]);
  });
});

test("of a worker that hangs it is said once, and when it is back; not of one that has not begun to answer", () => {
  const notices: string[] = [];
  const desk = createWorkerDesk(
    () => undefined,
    1,
    (level, message) => notices.push(`${level}: ${message}`),
  );
  const [hanging, sound] = [1, 2, 3].map((place) => desk.join(place, () => {}, 100 + place));
  hanging?.take("ready");
  for (let look = 0; look < 5; look++) {
    sound?.take("ready");
    desk.look();
  }
  expect(notices.splice(0)).toEqual([expect.stringMatching(/^warn: worker 1 \(process 101\) hangs/)]);
  hanging?.take("ready");
  desk.look();
  expect(notices).toEqual(["info: worker 1 (process 101) answers again"]);
});

test("a call that was seen is remembered for a minute, and only the last hundred are", () => {
  const clock = createClock();
  const seen = new SeenRequests(clock.now);
  const note = (request_id: string) =>
    seen.note({ request_id, at: "", peer: null, client: null, protocol: "http", host: null, forwarded: {} });
  note("doctor-first");
  expect(seen.find("doctor-first")?.request_id).toBe("doctor-first");
  for (let number = 0; number < 100; number++) note(`doctor-${number}`);
  expect([seen.find("doctor-first"), seen.find("doctor-none")]).toEqual([null, null]);
  expect(seen.find("doctor-0")).not.toBeNull();
  clock.advance(60_000);
  expect(seen.find("doctor-99")).toBeNull();
});
