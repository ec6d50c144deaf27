import { unavailable } from "../../errors.ts";
import type { Result, Session } from "../session.ts";
import { type Bound, retryWhileBusy } from "./calls.ts";
import { exchange, type Links, lostError } from "./exchange.ts";
import type { HranaStream } from "./hrana.ts";
import type { SharedReads } from "./shared-reads.ts";
import { ServerTransaction } from "./transaction.ts";
import { Unit } from "./unit.ts";

/** Units of one exchange together may have as many statements; a text counts as one for each 2,000 characters. */
const maxWeight = 1000;
const charsPerWeight = 2000;
const maxWaiting = 10_000;
/** How long the caller of a transaction may take in all, beside waiting for the lock. */
const timeoutMs = 5000;

/**
 * Writes to a libSQL server. Units that wait share one exchange and one commit, and each succeeds or fails alone. One
 * exchange is under way at a time, because the server has one writer; meanwhile further units gather for the next.
 */
export class SharedWrites {
  readonly #openStream: () => HranaStream;
  readonly #reads: SharedReads;
  #stream: HranaStream;
  readonly #lockDeadlineMs: number;
  readonly #waiting = new Set<Unit>();
  readonly #links: Links = new Map();
  #units = 0;
  #isDriving = false;
  #idle: (() => void)[] = [];

  /**
   * @param reads for those with which transactions begin.
   * @param lockDeadlineMs how long a write waits for another program's lock.
   */
  constructor(openStream: () => HranaStream, reads: SharedReads, lockDeadlineMs: number) {
    this.#openStream = openStream;
    this.#reads = reads;
    this.#stream = openStream();
    this.#lockDeadlineMs = lockDeadlineMs;
  }

  /** Runs statements as one transaction. Errors: of the first that fails; unavailable. */
  async run(stmts: Bound[]): Promise<Result[]> {
    const unit = new Unit(++this.#units, false);
    unit.end = "commit";
    const results = unit.want(stmts);
    this.join(unit);
    return results;
  }

  /**
   * Runs `fn` as one transaction, again from its beginning while rows that it has seen are changed by others.
   * @throws errors of `fn`, once what it has seen is confirmed; unavailable when that takes too long.
   */
  async transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    const order = ++this.#units;
    let unit: Unit | undefined;
    const late = () => unit?.lose(unavailable("The transaction took too long."));
    const timer = setTimeout(late, this.#lockDeadlineMs + timeoutMs);
    try {
      for (let isRetry = false; ; isRetry = true) {
        unit = new Unit(order, isRetry);
        const end = this.#attempt(unit, fn);
        end.catch(() => {});
        if ((await unit.settled) === "ended") return await end;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Adds a unit to the next exchange. */
  join(unit: Unit): void {
    if (this.#waiting.size < maxWaiting) this.#waiting.add(unit);
    else unit.lose(unavailable("Too many writes are waiting."));
    if (this.#isDriving) return;
    this.#isDriving = true;
    setImmediate(() => this.#drive());
  }

  /**
   * Whether the server has a write on its disk before it answers. A stream keeps the mode in which it was opened, so after a
   * no the next writes use a new one.
   */
  async isDurable(): Promise<boolean> {
    const [mode] = await this.run([{ sql: "PRAGMA synchronous", args: [] }]);
    if (mode?.rows[0]?.synchronous === 2) return true;
    const weak = this.#stream;
    this.#stream = this.#openStream();
    await weak.close();
    return false;
  }

  /** Resolves when no write waits or runs. */
  drain(): Promise<void> {
    return this.#isDriving ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  /** The result or error of `fn`, once the unit is settled. */
  async #attempt<T>(unit: Unit, fn: (tx: Session) => Promise<T>): Promise<T> {
    const end = (how: "commit" | "undo") => {
      if (unit.hasSettled) return;
      unit.end = how;
      if (unit.seen.length === 0) unit.settle("ended");
      else this.join(unit);
    };
    try {
      const value = await fn(new ServerTransaction(unit, { reads: this.#reads, writes: this }));
      end("commit");
      return value;
    } catch (error) {
      end("undo");
      throw error;
    }
  }

  async #drive(): Promise<void> {
    let last: { units: Unit[]; answer: () => void } | undefined;
    for (;;) {
      const units = this.#take(last?.units);
      const next = units.length > 0 ? this.#exchange(units) : undefined;
      // While the server works on the next exchange, callers of the last are answered, and join again.
      last?.answer();
      last = await next;
      if (next === undefined) await new Promise((resolve) => setImmediate(resolve));
      if (next === undefined && this.#waiting.size === 0) break;
    }
    this.#isDriving = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #exchange(units: Unit[]): Promise<{ units: Unit[]; answer: () => void }> {
    const settle = await retryWhileBusy(() => exchange(this.#stream, units, this.#links), this.#lockDeadlineMs).catch(
      (error) => () => {
        for (const unit of units) unit.lose(lostError(error));
      },
    );
    const answer = () => {
      settle();
      for (const unit of units) if (unit.wanted.length > 0 && !unit.hasSettled) this.#waiting.add(unit);
    };
    return { units, answer };
  }

  /** The units of the next exchange. Those of the last are not answered yet, and wait even if they ask for more. */
  #take(unanswered: readonly Unit[] = []): Unit[] {
    const taken: Unit[] = [];
    let weight = 0;
    let hasBegun = false;
    for (const unit of [...this.#waiting].toSorted((a, b) => a.order - b.order)) {
      // Of units that are tried again, one begins with each exchange: it then sees what those before it will commit, where
      // all at once would see the same and conflict once more.
      const isAgain = unit.isRetry && unit.seen.length === 0;
      if (isAgain && hasBegun) continue;
      hasBegun ||= isAgain;
      if (unanswered.includes(unit)) continue;
      const own = weightOf(unit);
      if (taken.length > 0 && weight + own > maxWeight) break;
      weight += own;
      taken.push(unit);
      this.#waiting.delete(unit);
    }
    return taken;
  }
}

function weightOf({ seen, wanted }: Unit): number {
  const stmts = [...seen.map(({ stmt }) => stmt), ...wanted.flatMap(({ stmts }) => stmts)];
  const lengths = stmts.flatMap(({ args }) =>
    args.map((arg) => (typeof arg === "string" || arg instanceof Uint8Array ? arg.length : 0)),
  );
  return stmts.length + lengths.reduce((sum, length) => sum + length, 0) / charsPerWeight;
}
