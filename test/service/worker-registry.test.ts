import { describe, expect, test } from "bun:test";
import { createChannel, type IpcRequest } from "../../src/server/monitoring/worker-registry.ts";

/** Connects two ends of a pipe. Messages arrive in a later turn, as between processes. */
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
  test("the channel between two processes returns each answer to its own question, in any order", async () => {
    const slow = Promise.withResolvers<string>();
    const [here] = connect([() => undefined, ({ kind }) => (kind === "metrics" ? slow.promise : { answered: kind })]);
    const [metrics, figures] = [here.request({ kind: "metrics" }, 5000), here.request({ kind: "figures" }, 5000)];
    expect(await figures).toEqual({ answered: "figures" });
    slow.resolve("text");
    expect(await metrics).toBe("text");
  });

  test("the channel between two processes returns undefined in time if the other process hangs, fails or has ended", async () => {
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

  test("the channel between two processes ignores other messages on the same pipe", () => {
    const [here] = connect([() => undefined, () => undefined]);
    for (const message of ["ready", null, undefined, 5, {}, { kind: "else" }]) {
      expect(() => here.receive(message)).not.toThrow();
    }
  });
});
