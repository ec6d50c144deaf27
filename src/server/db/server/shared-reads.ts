import { AppError } from "../../errors.ts";
import { isBusy, mapServerError } from "../db-errors.ts";
import type { Result } from "../session.ts";
import { type Bound, retryWhileBusy } from "./calls.ts";
import type { HranaStream, Outcome, Step } from "./hrana.ts";
import { mergeReads } from "./merge-reads.ts";

interface Read {
  stmts: Bound[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

/** Exchanges under way. More would only wait at the server. */
const maxExchanges = 4;
const maxStatements = 64;
/** How long reads gather while an exchange is under way, and after it, until as many wait as it had. */
const gatherMs = { beside: 5, after: 2 };

/**
 * Reads from a libSQL server. Those of one turn of the event loop share an exchange, whose transaction is one snapshot;
 * while one is under way, further reads gather for the next until it ends or for a moment, and afterwards until as many
 * wait as it had or for a shorter one, because each exchange costs the server as much as ten statements.
 */
export class SharedReads {
  readonly #open: () => HranaStream;
  readonly #deadlineMs: number;
  readonly #idle: HranaStream[] = [];
  #waiting: Read[] = [];
  #underWay = 0;
  /** Reads that waited when the last exchange began. */
  #lastCount = 0;
  #isScheduled = false;
  #gathering: Timer | undefined;

  /** @param deadlineMs how long reads of a locked database are repeated. */
  constructor(open: () => HranaStream, deadlineMs: number) {
    this.#open = open;
    this.#deadlineMs = deadlineMs;
  }

  /** The results of statements that read, from one snapshot. Errors: of the first that fails; unavailable. */
  run(stmts: Bound[]): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stmts, resolve, reject });
      this.#schedule();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((stream) => stream.close()));
  }

  #schedule(): void {
    const isBusy = this.#underWay > 0;
    // Callers that were answered together soon ask again.
    if (isBusy || this.#waiting.length < this.#lastCount) {
      this.#gathering ??= setTimeout(() => this.#begin(), isBusy ? gatherMs.beside : gatherMs.after);
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#begin());
    }
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#stopGathering();
    this.#lastCount = this.#waiting.length;
    while (this.#waiting.length > 0 && this.#underWay < maxExchanges) void this.#exchange(this.#take());
  }

  #stopGathering(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #take(): Read[] {
    let count = 0;
    let next = 0;
    for (; next < this.#waiting.length; next++) {
      count += this.#waiting[next]?.stmts.length ?? 0;
      if (next > 0 && count > maxStatements) break;
    }
    return this.#waiting.splice(0, next);
  }

  async #exchange(reads: Read[]): Promise<void> {
    this.#underWay++;
    const stream = this.#idle.pop() ?? this.#open();
    const { merged, split } = mergeReads(reads.flatMap(({ stmts }) => stmts));
    try {
      const outcomes = split(await retryWhileBusy(() => runTogether(stream, merged), this.#deadlineMs));
      let at = 0;
      for (const read of reads) {
        const own = outcomes.slice(at, at + read.stmts.length);
        at += read.stmts.length;
        const error = own.find((outcome) => outcome instanceof Error);
        if (error === undefined) read.resolve(own as Result[]);
        else read.reject(mapServerError(error));
      }
      this.#idle.push(stream);
    } catch (error) {
      // The server refuses all statements for one that it cannot parse, and all answers that together are too large.
      if (error instanceof AppError || reads.length === 1) for (const { reject } of reads) reject(error);
      else for (const read of reads) await this.#exchange([read]);
    }
    this.#underWay--;
    if (this.#underWay === 0) this.#stopGathering();
    if (this.#waiting.length > 0) this.#schedule();
  }
}

async function runTogether(stream: HranaStream, stmts: Bound[]): Promise<Outcome[]> {
  const condition = { type: "ok", step: 0 } as const;
  const steps: Step[] =
    stmts.length === 1
      ? stmts
      : [
          { sql: "BEGIN TRANSACTION READONLY" },
          ...stmts.map((stmt) => ({ ...stmt, condition })),
          { sql: "COMMIT", condition },
        ];
  const outcomes = await stream.run(steps);
  if (isBusy(outcomes[0])) throw outcomes[0];
  return stmts.length === 1 ? outcomes : outcomes.slice(1, -1);
}
