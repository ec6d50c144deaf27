import { randomBytes } from "node:crypto";
import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { isBusy, isOwnFailure } from "../db-errors.ts";
import type { CommitResult, Writer } from "../group-commit/writer.ts";
import type { Result } from "../session.ts";
import { type Bound, bindForServer, isResult, type Outcome, type ServerConnection } from "./connection.ts";

const begin = bindForServer("BEGIN IMMEDIATE");
const commit = bindForServer("COMMIT");
const release = bindForServer("RELEASE bodega_unit");
// An expression that always fails, because the smallest integer has no absolute value.
const failing = "abs(-9223372036854775808)";
const addWriter = "INSERT OR IGNORE INTO write_groups (writer, last_group) VALUES (?, 0)";
/**
 * Records the group. If this or a later group is already recorded, or nobody waits for the answer any more, CASE returns
 * NULL. The column refuses NULL, which frees the lock.
 */
const keepGroup = `UPDATE OR ROLLBACK write_groups SET last_group =
  CASE WHEN last_group < ?2 AND julianday('now') * 86400000 < ?3 THEN ?2 END WHERE writer = ?1`;
const checkGroup = `SELECT CASE WHEN EXISTS (SELECT 1 FROM write_groups WHERE writer = ? AND last_group = ?)
  THEN 1 ELSE ${failing} END`;
const dropOldWriters = "DELETE FROM write_groups WHERE rowid < (SELECT max(rowid) FROM write_groups) - 1000";

/** Units are answered at most this long after the deadline for the lock. The libSQL server then frees the lock. */
const answerMs = 5000;

/** Writes to a libSQL server over one connection, in few round trips. See ../group-commit/README.md. */
export class ServerWriter implements Writer {
  readonly maxTogether = 32;
  lockMs = 0;
  inTransaction = false;
  readonly #connection: ServerConnection;
  /** The id of this process. It is new at each start, so that no group number is used twice. */
  readonly #writerId = randomBytes(12).toString("hex");
  #group = 0;
  #lockDeadline = 0;
  /** The time by which all units of the group are answered. */
  #deadline = 0;
  #check: Bound = begin;
  #keep: Bound = begin;
  #unsent: Bound[] = [];
  /** The reads before the commit. To save a round trip, they are sent with the unit that may be the last. */
  #ahead: Bound[] = [];
  #foundAhead: Result[] | undefined;
  /** The statements of the next message, and its results. */
  #gathered: Bound[] = [];
  #next: Promise<Result[]> | undefined;
  /** Resolves when the last message is answered. */
  #sent: Promise<unknown> = Promise.resolve();

  constructor(connection: ServerConnection) {
    this.#connection = connection;
  }

  /** Sends nothing. The message with the first statements will acquire the lock. */
  begin(deadline: number): boolean {
    this.lockMs = Math.max(0, deadline - performance.now());
    this.#lockDeadline = deadline;
    this.#deadline = deadline + answerMs;
    const args = [this.#writerId, BigInt(++this.#group)];
    this.#check = { sql: checkGroup, args };
    this.#keep = { sql: keepGroup, args: [...args] };
    this.#unsent = [begin, { sql: addWriter, args: [this.#writerId] }, this.#keep];
    if (this.#group === 1) this.#unsent.push(bindForServer(dropOldWriters));
    this.inTransaction = true;
    return true;
  }

  beginUnit(ahead: readonly InStatement[]): void {
    this.#unsent.push(bindForServer("SAVEPOINT bodega_unit"));
    this.#ahead = ahead.map(bindForServer);
    this.#foundAhead = undefined;
  }

  /** Calls that a unit makes at the same time share a message. If the message fails, all these calls fail. */
  async run(stmts: readonly InStatement[]): Promise<Result[]> {
    const from = this.#gathered.length;
    const to = this.#gathered.push(...stmts.map(bindForServer));
    this.#next ??= this.#sent.then(async () => {
      this.#next = undefined;
      const gathered = this.#gathered.splice(0);
      const outcomes = (await this.#trip([...gathered, ...this.#ahead])) ?? [];
      if (!outcomes.every(isResult)) throw this.#failureOf(outcomes, gathered.length);
      this.#foundAhead = outcomes.splice(gathered.length);
      return outcomes;
    });
    this.#sent = this.#next.catch(() => undefined);
    return (await this.#next).slice(from, to);
  }

  async endUnit(): Promise<void> {
    // Waits for calls that the unit did not await, because they must not be sent after the COMMIT.
    await this.#sent;
    this.#unsent.push(release);
  }

  async undoUnit(): Promise<void> {
    // The last message of a unit that timed out may not be answered yet.
    await this.#sent;
    this.#foundAhead = undefined;
    this.#unsent.push(bindForServer("ROLLBACK TO bodega_unit"), release);
  }

  async commit(first: readonly InStatement[], unless: readonly InStatement[]): Promise<CommitResult> {
    const found = this.#foundAhead;
    if (first.length === 0 && found?.some(({ rows }) => rows.length > 0)) return { results: [], found };
    const reads = unless.map(bindForServer);
    const exists = reads.map(({ sql }) => `EXISTS (${sql})`).join(" OR ") || "false";
    const sql = `SELECT CASE WHEN ${exists} THEN ${failing} END`;
    const commitUnless = [...reads, { sql, args: reads.flatMap(({ args }) => args) }, commit];
    const outcomes = await this.#trip([...first.map(bindForServer), ...commitUnless]);
    const results = outcomes?.slice(0, first.length) as Result[] | undefined;
    if (outcomes === undefined || isResult(outcomes.at(-1))) {
      this.inTransaction = false;
      return { results };
    }
    const left = outcomes.slice(first.length, -2);
    if (left.every(isResult) && isOwnFailure(outcomes.at(-2))) return { results, found: left };
    throw this.#failureOf(outcomes, first.length);
  }

  async abandon(): Promise<void> {
    await this.#sent;
    this.#lose(undefined);
  }

  /** Returns the first error. The transaction continues only if one of the first `count` statements failed. */
  #failureOf(outcomes: Outcome[], count: number): unknown {
    const at = outcomes.findIndex((outcome) => !isResult(outcome));
    return at < count && isOwnFailure(outcomes[at]) ? outcomes[at] : this.#lose(outcomes[at]);
  }

  /**
   * Sends the waiting statements, then `stmts`. Each runs only if the one before it succeeded. The first message takes
   * the lock. Returns the outcomes of `stmts`; undefined if they were committed but the answer was lost.
   */
  async #trip(stmts: Bound[]): Promise<Outcome[] | undefined> {
    const isFirst = this.#unsent[0] === begin;
    const isCommit = stmts.at(-1) === commit;
    const unsent = this.#unsent.splice(0);
    const before = isFirst ? unsent : [this.#check, ...unsent];
    const message = [...before, ...stmts];
    let outcomes: Outcome[];
    try {
      // The first message can be sent again if it has no COMMIT, because a lost connection rolls it back.
      if (isFirst) outcomes = await this.#takeLock(message, this.#lockDeadline, isCommit ? 0 : 1);
      // This message has half of the time. The rest is for finding out if a COMMIT without an answer took effect.
      else outcomes = await this.#connection.run(message, (performance.now() + this.#deadline) / 2);
    } catch (error) {
      // If the server cannot parse a statement, it refuses the whole message and runs nothing.
      if (isOwnFailure(error)) {
        this.#unsent = unsent;
        throw error;
      }
      this.#lose(error);
      // A message that also begins the transaction may still arrive, so its effect cannot be looked up.
      if (isFirst || !isCommit || !(await this.#hasCommitted())) throw error;
      return undefined;
    }
    if (!isResult(outcomes[before.length - 1])) throw this.#failureOf(outcomes, 0);
    return outcomes.slice(before.length);
  }

  /** Sends a message until the lock is free, and up to `repeats` times again if its connection is lost. */
  async #takeLock(message: Bound[], deadline: number, repeats: number): Promise<Outcome[]> {
    for (let left = repeats; ; ) {
      try {
        await this.#connection.open(deadline);
        this.#keep.args[2] = this.#connection.endOf(deadline);
        // Some servers let a BEGIN wait for the lock instead of refusing it.
        const outcomes = await this.#connection.run(message, deadline);
        if (!isBusy(outcomes[0]) || performance.now() > deadline) return outcomes;
      } catch (error) {
        if (isOwnFailure(error) || left-- === 0 || performance.now() > deadline) throw error;
      }
      await Bun.sleep(1 + Math.random() * 4);
    }
  }

  /**
   * Returns whether a COMMIT without an answer took effect; false also if the lock is not free in time. A new
   * transaction begins only when the old one has ended. The row of the old group is then final.
   */
  async #hasCommitted(): Promise<boolean> {
    const asking = [begin, this.#check];
    const outcomes = await this.#takeLock(asking, this.#deadline, Number.POSITIVE_INFINITY).catch(() => []);
    this.#connection.close();
    return isResult(outcomes[1]);
  }

  /** Closes the connection, because its transaction may have ended. Returns the error to throw. */
  #lose(error: unknown): unknown {
    this.inTransaction = false;
    this.#connection.close();
    return isOwnFailure(error) ? unavailable(undefined, { cause: error }) : error;
  }
}
