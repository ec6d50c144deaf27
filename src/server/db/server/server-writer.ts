import { randomBytes } from "node:crypto";
import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { isBusy, isOwnFailure, mapServerError } from "../db-errors.ts";
import type { Writer } from "../group-commit/writer.ts";
import type { Result } from "../session.ts";
import { isResult, type KeptStream, type Outcome, type ServerConnection, type Step } from "./connection.ts";
import { GatheredCalls } from "./gathered-calls.ts";
import {
  type Bound,
  begin,
  bindForServer,
  checkGroup,
  control,
  dropOldWriters,
  failing,
  keepGroup,
  readGroup,
  release,
  rollbackTo,
  savepoint,
} from "./statements.ts";

/** How long a waiting writer pauses at most, in milliseconds. */
const maxPauseMs = 5;
/** A server lets others take the lock of a transaction this old. With as long to find out about a COMMIT, a write takes ten seconds. */
const callTimeoutMs = 5000;
const pause = () => Bun.sleep(1 + Math.random() * (maxPauseMs - 1));

/**
 * Writes to a libSQL server over one kept stream. What needs no answer, such as the beginning of a unit, waits for the next
 * statements and goes with them, and so do calls that arrive together. A group writes its number into a row of its own,
 * which each later message reads first: a server that ended the transaction would commit each further statement alone.
 */
export class ServerWriter implements Writer {
  readonly maxTogether = 32;
  inTransaction = false;
  /** Whether the server has a write on its disk before it answers. Each group asks. */
  isDurable = true;
  durabilityReadAt = Number.NEGATIVE_INFINITY;
  readonly #connection: ServerConnection;
  readonly #lockDeadlineMs: number;
  /** Another one at each start, so that numbers of groups never meet. */
  readonly #writerId = randomBytes(12).toString("hex");
  #group = 0;
  #stream: KeptStream | undefined;
  /** Statements that wait for the next message. */
  #unsent: Bound[] = [];
  /** Where those of the current unit begin; undefined once they were sent. */
  #unitAt: number | undefined;
  readonly #calls = new GatheredCalls((stmts) => this.#send(stmts));

  constructor(connection: ServerConnection, lockDeadlineMs: number) {
    this.#connection = connection;
    this.#lockDeadlineMs = lockDeadlineMs;
  }

  /** The lock is taken with the first statements. */
  begin(): boolean {
    this.#group++;
    const keep = { sql: keepGroup, args: [this.#writerId, BigInt(this.#group)] };
    this.#unsent = [begin, control("PRAGMA synchronous"), keep];
    if (this.#group === 1) this.#unsent.push(control(dropOldWriters));
    this.inTransaction = true;
    return true;
  }

  readonly waitForLock = pause;

  async yieldLock(): Promise<void> {}

  beginUnit(): void {
    this.#unitAt = this.#unsent.length;
    this.#unsent.push(savepoint);
  }

  run(stmts: readonly InStatement[]): Promise<Result[]> {
    return this.#calls.run(stmts.map(bindForServer));
  }

  endUnit(): void {
    this.#unsent.push(release);
  }

  async undoUnit(): Promise<void> {
    // A unit that was ended for its time may still wait for an answer.
    await this.#calls.underWay;
    if (this.#unitAt === undefined) await this.#send([rollbackTo, release]);
    else this.#unsent.length = this.#unitAt;
  }

  async commit(first: readonly InStatement[], unless: readonly InStatement[]): Promise<Result[] | undefined> {
    if (this.#isUnsent) {
      this.#end();
      return undefined;
    }
    const reads = unless.map(bindForServer);
    const found = reads.map(({ sql }) => `EXISTS (${sql})`).join(" OR ") || "false";
    const check = { sql: `SELECT CASE WHEN ${found} THEN ${failing} END`, args: reads.flatMap(({ args }) => args) };
    const before = [...first.map(bindForServer), ...reads];
    const outcomes = await this.#trip([...before, check, control("COMMIT")]).catch((error) => this.#findOut(error));
    const [checked, committed] = outcomes?.slice(-2) ?? [];
    if (outcomes === undefined || isResult(committed)) {
      this.#end();
      return undefined;
    }
    const results = outcomes.slice(-2 - reads.length, -2);
    if (isOwnFailure(checked) && results.every(isResult)) return results;
    throw this.#lose(outcomes.find((outcome) => outcome instanceof Error));
  }

  async abandon(): Promise<void> {
    await this.#calls.underWay;
    const isBegun = this.inTransaction && !this.#isUnsent;
    this.#end();
    if (isBegun) await this.#runOn(this.#stream, [control("ROLLBACK")]).catch(() => this.#connection.close());
  }

  /**
   * Asks the server whether a write is on its disk before it answers. A stream keeps the mode in which it was opened, so
   * after a no the next group uses a new one. Errors: unavailable.
   */
  async readDurability(): Promise<boolean> {
    try {
      const [mode] = await this.#runOn(await this.#openStream(), [control("PRAGMA synchronous")]);
      this.#noteDurability(mode);
      if (!this.isDurable) this.#connection.close();
      return this.isDurable;
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** Whether nothing of the group was sent yet, its BEGIN included. */
  get #isUnsent(): boolean {
    return this.#unsent[0] === begin;
  }

  /** Runs statements after those that wait, and returns their results. Errors: of the first that fails; unavailable. */
  async #send(stmts: Bound[]): Promise<Result[]> {
    const before = [...this.#unsent];
    const { outcomes, count } = await this.#trip(stmts).then(
      (outcomes) => ({ outcomes, count: outcomes.length - stmts.length }),
      (error) => {
        if (!isOwnFailure(error)) throw this.#lose(error);
        // The server refuses a whole batch for a statement that it cannot parse, and has run nothing.
        this.#unsent = before;
        throw mapServerError(error);
      },
    );
    this.#unitAt = undefined;
    const failedAt = outcomes.findIndex((outcome) => !isResult(outcome));
    if (failedAt === -1) return outcomes.slice(count) as Result[];
    const failure = outcomes[failedAt];
    if (failedAt < count || !isOwnFailure(failure)) throw this.#lose(failure);
    throw mapServerError(failure);
  }

  /** Sends what waits and these statements, each only after the one before it. The first message takes the lock. */
  async #trip(stmts: Bound[]): Promise<Outcome[]> {
    if (!this.inTransaction) throw unavailable("The transaction has already ended.");
    const isFirst = this.#isUnsent;
    const steps = [...this.#unsent.splice(0), ...stmts];
    if (isFirst) return this.#takeLock(steps);
    return this.#runOn(this.#stream, [{ sql: checkGroup, args: [this.#writerId, BigInt(this.#group)] }, ...steps]);
  }

  /** Sends the first message of a group until the lock is free; once more over a new connection, as nothing was committed. */
  async #takeLock(steps: Bound[]): Promise<Outcome[]> {
    const deadline = performance.now() + this.#lockDeadlineMs;
    let isKept = this.#connection.isOpen(this.#stream);
    for (;;) {
      try {
        // A server may let a BEGIN wait for the lock instead of refusing it.
        const outcomes = await this.#runOn(await this.#openStream(), steps, Math.max(1, deadline - performance.now()));
        if (!isBusy(outcomes[0]) || performance.now() > deadline) {
          this.#noteDurability(outcomes[1]);
          return outcomes;
        }
      } catch (error) {
        if (!isKept || isOwnFailure(error) || performance.now() > deadline) throw error;
        isKept = false;
        this.#connection.close();
      }
      await pause();
    }
  }

  async #runOn(stream: KeptStream | undefined, steps: Bound[], timeoutMs = callTimeoutMs): Promise<Outcome[]> {
    if (!this.#connection.isOpen(stream)) throw unavailable("The connection was lost.", { isInternal: true });
    const chained = steps.map((step, index): Step => ({ ...step, after: index === 0 ? undefined : index - 1 }));
    return this.#connection.run(stream, chained, timeoutMs);
  }

  async #openStream(): Promise<KeptStream> {
    this.#stream = await this.#connection.openStream(this.#stream);
    return this.#stream;
  }

  #noteDurability(mode: Outcome): void {
    if (!isResult(mode)) return;
    this.isDurable = mode.rows[0]?.synchronous === 2;
    this.durabilityReadAt = performance.now();
  }

  /**
   * After a COMMIT without an answer: once another transaction has begun, the old one has ended, and its row tells how.
   * @throws unavailable where it did not commit, or the lock is not free in time.
   */
  async #findOut(cause: unknown): Promise<undefined> {
    const deadline = performance.now() + this.#lockDeadlineMs;
    const steps = [begin, { sql: readGroup, args: [this.#writerId] }, control("ROLLBACK")];
    this.#connection.close();
    while (performance.now() < deadline) {
      const outcomes = await this.#openStream()
        .then((stream) => this.#runOn(stream, steps, Math.max(1, deadline - performance.now())))
        .catch(() => [undefined]);
      const [, last, ended] = outcomes;
      if (isResult(last) && isResult(ended)) {
        if (last.rows[0]?.last_group !== this.#group) break;
        return undefined;
      }
      if (!isBusy(outcomes[0])) this.#connection.close();
      await pause();
    }
    throw this.#lose(cause);
  }

  #end(): void {
    this.inTransaction = false;
    this.#unsent = [];
  }

  /** Sends nothing more on a stream whose transaction may have ended. Returns the error to throw. */
  #lose(error: unknown): unknown {
    this.#end();
    this.#connection.close();
    const mapped = mapServerError(error);
    return isOwnFailure(mapped) ? unavailable(undefined, { cause: error }) : mapped;
  }
}
