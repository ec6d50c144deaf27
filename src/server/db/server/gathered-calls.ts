import type { Result } from "../session.ts";
import type { Bound } from "./statements.ts";

interface Call {
  stmts: Bound[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

/** Sends the statements of calls that arrive together in one message, and one message at a time. */
export class GatheredCalls {
  readonly #send: (stmts: Bound[]) => Promise<Result[]>;
  #waiting: Call[] = [];
  underWay: Promise<void> | undefined;

  constructor(send: (stmts: Bound[]) => Promise<Result[]>) {
    this.#send = send;
  }

  /** Returns the results of a call's statements. Throws the error of the first failing statement in the message. */
  run(stmts: Bound[]): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stmts, resolve, reject });
      this.underWay ??= this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0);
      try {
        const results = await this.#send(calls.flatMap(({ stmts }) => stmts));
        for (const { stmts, resolve } of calls) resolve(results.splice(0, stmts.length));
      } catch (error) {
        // The unit of a failed call is undone, so its other calls fail too.
        for (const { reject } of calls) reject(error);
      }
    }
    this.underWay = undefined;
  }
}
