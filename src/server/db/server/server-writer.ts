import { randomBytes } from "node:crypto";
import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { isBusy, isOwnFailure, mapServerError } from "../db-errors.ts";
import type { CommitResult, Writer } from "../group-commit/writer.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Result } from "../session.ts";
import { isResult, type KeptStream, type Outcome, type ServerConnection } from "./connection.ts";
import { GatheredCalls } from "./gathered-calls.ts";
import { leftUntil, pause, readLastGroup } from "./last-group.ts";
import {
  type Bound,
  begin,
  bindForServer,
  checkGroup,
  commit,
  commitUnless,
  control,
  dropOldWriters,
  keepGroup,
  readMode,
  release,
  rollbackTo,
  savepoint,
} from "./statements.ts";

/** After this time, a server lets others take the lock. */
const tripTimeoutMs = 5000;
/** The least time for the first message of a group, even if its first unit has waited long. */
const minLockMs = 500;

/**
 * Writes to a libSQL server over one kept stream. To save round trips, statements that need no answer wait for the next
 * message, and calls that arrive together share one. A group writes its number into a row, and each later message
 * checks it first, because after the server has ended a transaction it would commit each further statement alone. See
 * ../group-commit/README.md.
 */
export class ServerWriter implements Writer {
  readonly maxTogether = 32;
  inTransaction = false;
  /** Whether the server writes to its disk before it answers. Each group asks. */
  isDurable = true;
  #durabilityReadAt = Number.NEGATIVE_INFINITY;
  readonly #connection: ServerConnection;
  readonly #lockDeadlineMs: number;
  /** The id of this process, new at each start, so that no process repeats another's group numbers. */
  readonly #writerId = randomBytes(12).toString("hex");
  #group = 0;
  #lockDeadline = 0;
  #stream: KeptStream | undefined;
  #unsent: Bound[] = [];
  /** Index of the current unit's first unsent statement; undefined once it was sent. */
  #unitAt: number | undefined;
  /** The reads before the commit. They are sent with the unit that may be the last, which saves a round trip. */
  #ahead: Bound[] = [];
  #foundAhead: Result[] | undefined;
  readonly #calls = new GatheredCalls((stmts) => this.#send(stmts));

  constructor(connection: ServerConnection, lockDeadlineMs: number) {
    this.#connection = connection;
    this.#lockDeadlineMs = lockDeadlineMs;
  }

  /** The first statements take the lock. */
  begin(deadline: number): boolean {
    this.#group++;
    this.#lockDeadline = Math.max(deadline, performance.now() + minLockMs);
    const keep = { sql: keepGroup, args: [this.#writerId, BigInt(this.#group)] };
    this.#unsent = [begin, readMode, keep];
    if (this.#group === 1) this.#unsent.push(control(dropOldWriters));
    this.inTransaction = true;
    return true;
  }

  readonly waitForLock = pause;

  async yieldLock(): Promise<void> {}

  beginUnit(ahead: readonly InStatement[]): void {
    this.#unitAt = this.#unsent.length;
    this.#unsent.push(savepoint);
    this.#ahead = ahead.map(bindForServer);
  }

  run(stmts: readonly InStatement[]): Promise<Result[]> {
    return this.#calls.run(stmts.map(bindForServer));
  }

  endUnit(): void {
    this.#unsent.push(release);
  }

  async undoUnit(): Promise<void> {
    // A unit that timed out may still wait for an answer.
    await this.#calls.underWay;
    this.#ahead = [];
    this.#foundAhead = undefined;
    if (this.#unitAt === undefined) await this.#send([rollbackTo, release]);
    else this.#unsent.length = this.#unitAt;
  }

  async commit(first: readonly InStatement[], unless: readonly InStatement[]): Promise<CommitResult> {
    if (this.#isUnsent && first.length === 0) {
      this.#end();
      return { results: [] };
    }
    const found = this.#foundAhead;
    this.#foundAhead = undefined;
    if (first.length === 0 && found?.some(({ rows }) => rows.length > 0)) return { results: [], found };
    const stmts = [...first.map(bindForServer), ...commitUnless(unless.map(bindForServer))];
    const outcomes = await this.#sendCommit(stmts);
    const own = outcomes?.slice(-stmts.length);
    const results = own?.slice(0, first.length) as Result[] | undefined;
    if (own === undefined || isResult(own.at(-1))) {
      this.#end();
      return { results };
    }
    const left = own.slice(first.length, -2);
    if (left.every(isResult) && isOwnFailure(own.at(-2))) return { results, found: left };
    throw this.#failureOf(outcomes, own.slice(0, first.length));
  }

  async abandon(): Promise<void> {
    await this.#calls.underWay;
    const isBegun = this.inTransaction && !this.#isUnsent;
    this.#end();
    if (isBegun) await this.#runKept([control("ROLLBACK")]).catch(() => this.#connection.close());
  }

  isDurableSince(since: number): boolean {
    return this.isDurable && this.#durabilityReadAt > since;
  }

  /** Asks for `isDurable`, unless known since `since`. A stream keeps its mode, so after a no, a new one is opened. */
  async readDurability(since: number): Promise<void> {
    if (this.#durabilityReadAt >= since) return;
    try {
      const [mode] = await this.#connection.runInOrder(await this.#openStream(), [readMode], tripTimeoutMs);
      this.#noteDurability(mode);
      if (!this.isDurable) this.#connection.close();
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** Whether nothing of the group was sent yet, not even BEGIN. */
  get #isUnsent(): boolean {
    return this.#unsent[0] === begin;
  }

  /** Sends the waiting statements and these; returns the results of these. Throws the first error, or unavailable. */
  async #send(stmts: Bound[]): Promise<Result[]> {
    const isRead = stmts.every(({ sql }) => shapeOf(sql).reads);
    const all = isRead ? stmts : [...stmts, ...this.#ahead];
    const outcomes = await this.#trip(all).catch((error) => {
      throw isOwnFailure(error) ? mapServerError(error) : this.#lose(error);
    });
    const own = outcomes.slice(-all.length);
    if (!outcomes.every(isResult)) throw this.#failureOf(outcomes, own.slice(0, stmts.length));
    if (!isRead) this.#foundAhead = own.splice(stmts.length) as Result[];
    return own as Result[];
  }

  /** Sends statements up to COMMIT. Returns undefined if committed without an answer. Errors: as `commit`. */
  async #sendCommit(stmts: Bound[]): Promise<Outcome[] | undefined> {
    const isFirst = this.#isUnsent;
    return this.#trip(stmts).catch(async (error) => {
      if (isOwnFailure(error)) throw mapServerError(error);
      // A message that also begins the transaction may still arrive late, so it must not be sent again.
      if (isFirst) throw this.#lose(error);
      const last = await readLastGroup(this.#connection, this.#writerId, this.#lockDeadlineMs);
      if (last !== this.#group) throw this.#lose(error);
      return undefined;
    });
  }

  /** Returns the error of a message's first failure. If it is one of `own`, the transaction continues. */
  #failureOf(outcomes: Outcome[] = [], own: Outcome[]): unknown {
    const failure = outcomes.find((outcome) => !isResult(outcome));
    return isOwnFailure(failure) && own.includes(failure) ? mapServerError(failure) : this.#lose(failure);
  }

  /** Sends the waiting statements and these, each only after a success. The first message takes the lock. */
  async #trip(stmts: Bound[]): Promise<Outcome[]> {
    if (!this.inTransaction) throw unavailable("The transaction has already ended.");
    const isFirst = this.#isUnsent;
    const before = this.#unsent.splice(0);
    const steps = [...before, ...stmts];
    const check = { sql: checkGroup, args: [this.#writerId, BigInt(this.#group)] };
    try {
      const outcomes = await (isFirst ? this.#takeLock(steps) : this.#runKept([check, ...steps]));
      this.#unitAt = undefined;
      return outcomes;
    } catch (error) {
      // If the server cannot parse a statement, it refuses the whole message and runs nothing.
      if (isOwnFailure(error)) this.#unsent = before;
      throw error;
    }
  }

  /** Sends the first message until the lock is free. Nothing was committed, so it may use a second connection. */
  async #takeLock(steps: Bound[], deadline = this.#lockDeadline): Promise<Outcome[]> {
    let isKept = this.#connection.isOpen(this.#stream);
    for (;;) {
      try {
        // Some servers let a BEGIN wait for the lock instead of refusing it.
        const outcomes = await this.#connection.runInOrder(await this.#openStream(), steps, leftUntil(deadline));
        if (!isBusy(outcomes[0]) || performance.now() > deadline) {
          this.#noteDurability(outcomes[1]);
          return outcomes;
        }
      } catch (error) {
        const mayRepeat = isKept && steps.at(-1) !== commit && performance.now() < deadline;
        if (!mayRepeat || isOwnFailure(error)) throw error;
        isKept = false;
        this.#connection.close();
      }
      await pause();
    }
  }

  #runKept(steps: Bound[]): Promise<Outcome[]> {
    return this.#connection.runInOrder(this.#stream, steps, tripTimeoutMs);
  }

  async #openStream(): Promise<KeptStream> {
    this.#stream = await this.#connection.openStream(this.#stream);
    return this.#stream;
  }

  #noteDurability(mode: Outcome): void {
    if (!isResult(mode)) return;
    this.isDurable = mode.rows[0]?.synchronous === 2;
    this.#durabilityReadAt = performance.now();
  }

  #end(): void {
    this.inTransaction = false;
    this.#foundAhead = undefined;
    this.#unsent = [];
  }

  /** Closes the connection, because its transaction may have ended. Returns the error to throw. */
  #lose(error: unknown): unknown {
    this.#end();
    this.#connection.close();
    const mapped = mapServerError(error);
    return isOwnFailure(mapped) ? unavailable(undefined, { cause: error }) : mapped;
  }
}
