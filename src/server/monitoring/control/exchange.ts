import type { SocketStep } from "../../tls/exchange-certificate.ts";

/** What the processes of a server ask one another. */
export type Question =
  | { what: "figures" }
  | { what: "seen"; requestId: string }
  | { what: "metrics" }
  /** Of a worker that starts: what it is to present. */
  | { what: "certificate" }
  /** Of a parent: answered by what `OpenPort.step` returns, or with a text that says why it failed. */
  | { what: "step"; step: SocketStep };

/** What goes over the pipe between a server and one of its workers. */
type Message =
  | { kind: "ask"; id: number; question: Question }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "tell"; value: unknown };

/** One end of the pipe. */
export interface Exchange {
  /** The other end's answer; undefined when none has come in time. */
  ask(question: Question, timeoutMs: number): Promise<unknown>;
  /** Says something that nobody asked for. */
  tell(value: unknown): void;
  /** Takes what has arrived; what is no message of an exchange is left alone. */
  take(message: unknown): void;
}

interface ExchangeOptions {
  /** Hands a message to the system; may throw when the other end is gone. */
  send: (message: unknown) => void;
  answer: (question: Question) => unknown;
  onTold?: (value: unknown) => void;
}

/** Makes one end of the pipe. */
export function createExchange({ send, answer, onTold }: ExchangeOptions): Exchange {
  const waiting = new Map<number, (value: unknown) => void>();
  let last = 0;

  function post(message: Message): void {
    try {
      send(message);
    } catch {
      // The other end has ended; who asks it hears nothing, and goes on without.
    }
  }

  async function reply(id: number, question: Question): Promise<void> {
    let value: unknown;
    try {
      value = await answer(question);
    } catch {
      // No answer: the asker's time runs out, which it is prepared for.
      return;
    }
    post({ kind: "answer", id, value });
  }

  return {
    ask(question, timeoutMs) {
      const id = ++last;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const timer = setTimeout(resolve, timeoutMs, undefined);
      waiting.set(id, resolve);
      post({ kind: "ask", id, question });
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    tell: (value) => post({ kind: "tell", value }),
    take(given) {
      if (typeof given !== "object" || given === null || !("kind" in given)) return;
      const message = given as Message;
      if (message.kind === "ask") void reply(message.id, message.question);
      else if (message.kind === "answer") waiting.get(message.id)?.(message.value);
      else if (message.kind === "tell") onTold?.(message.value);
    },
  };
}
