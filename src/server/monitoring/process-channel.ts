import { attempt } from "../values/attempt.ts";

export type Question =
  | { kind: "figures" }
  | { kind: "recent request"; requestId: string }
  | { kind: "metrics" }
  /** From a starting worker: which certificate to present. */
  | { kind: "certificate" }
  /** To a worker: a certificate to present. Answered with true, or with the text of an error. */
  | { kind: "present"; cert: string; key: string };

type Message =
  | { kind: "question"; id: number; question: Question }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "report"; value: unknown };

/** One end of the pipe between a server and one of its workers. */
export type ProcessChannel = ReturnType<typeof createChannel>;

interface ChannelOptions {
  /** Sends a message through the pipe; may throw when the other end is gone. */
  send: (message: unknown) => void;
  answer: (question: Question) => unknown;
  onReport?: (value: unknown) => void;
}

export function createChannel({ send, answer, onReport }: ChannelOptions) {
  const waiting = new Map<number, (value: unknown) => void>();
  let lastId = 0;

  // When the other end is gone, `ask` times out.
  const post = (message: Message) => attempt(() => send(message));

  const reply = async (id: number, question: Question) => post({ kind: "answer", id, value: await answer(question) });

  return {
    /** The other end's answer; undefined when none arrives in time. */
    ask(question: Question, timeoutMs: number): Promise<unknown> {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const timer = setTimeout(resolve, timeoutMs, undefined);
      waiting.set(id, resolve);
      post({ kind: "question", id, question });
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    report: (value: unknown) => post({ kind: "report", value }),
    receive(given: unknown): void {
      if (typeof given !== "object" || given === null || !("kind" in given)) return;
      const message = given as Message;
      // Without an answer, `ask` times out at the other end.
      if (message.kind === "question") reply(message.id, message.question).catch(() => {});
      else if (message.kind === "answer") waiting.get(message.id)?.(message.value);
      else if (message.kind === "report") onReport?.(message.value);
    },
  };
}
