import { attempt } from "../values/attempt.ts";

export type IpcRequest = { kind: "figures" } | { kind: "recent request"; requestId: string } | { kind: "metrics" };

type Message =
  | { kind: "request"; id: number; request: IpcRequest }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "report"; value: unknown };

/** One end of the pipe between a server and one of its workers. */
export type ProcessChannel = ReturnType<typeof createChannel>;

interface ChannelOptions {
  /** Sends a message through the pipe; may throw when the other end is gone. */
  send: (message: unknown) => void;
  answer: (request: IpcRequest) => unknown;
  onReport?: (value: unknown) => void;
}

export function createChannel({ send, answer, onReport }: ChannelOptions) {
  const waiting = new Map<number, (value: unknown) => void>();
  let lastId = 0;

  // If the other end is gone, `request` times out.
  const post = (message: Message) => attempt(() => send(message));

  const reply = async (id: number, request: IpcRequest) => post({ kind: "answer", id, value: await answer(request) });

  return {
    /** Returns the answer of the other end; undefined if none arrives in time. */
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
    report: (value: unknown) => post({ kind: "report", value }),
    receive(given: unknown): void {
      if (typeof given !== "object" || given === null || !("kind" in given)) return;
      const message = given as Message;
      // Without an answer, `request` times out at the other end.
      if (message.kind === "request") reply(message.id, message.request).catch(() => {});
      else if (message.kind === "answer") waiting.get(message.id)?.(message.value);
      else if (message.kind === "report") onReport?.(message.value);
    },
  };
}
