import { randomBytes } from "node:crypto";
import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { argsOf, type BoundValue, bindArgs, sqlOf } from "../bind-args.ts";
import { isBusy, isOwnFailure, mapServerError } from "../db-errors.ts";
import type { Writer } from "../group-commit/writer.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Result } from "../session.ts";
import type { KeptStream, Outcome, ServerConnection, Step } from "./connection.ts";

interface Bound {
  sql: string;
  args: BoundValue[];
}

const control = (sql: string): Bound => ({ sql, args: [] });
const begin = control("BEGIN IMMEDIATE");
const savepoint = control("SAVEPOINT bodega_unit");
const rollbackTo = control("ROLLBACK TO bodega_unit");
const release = control("RELEASE bodega_unit");
// SQLite has no function that fails, but the smallest integer has no absolute value.
const failing = "abs(-9223372036854775808)";
const [keepGroup, checkGroup, readGroup] = [
  `INSERT INTO write_groups (writer, last_group) VALUES (?, ?)
  ON CONFLICT (writer) DO UPDATE SET last_group = excluded.last_group`,
  `SELECT CASE WHEN EXISTS (SELECT 1 FROM write_groups WHERE writer = ? AND last_group = ?) THEN 1 ELSE ${failing} END`,
  "SELECT last_group FROM write_groups WHERE writer = ?",
];

/** How long a waiting writer pauses at most, in milliseconds. */
const maxPauseMs = 5;
const pause = () => Bun.sleep(1 + Math.random() * (maxPauseMs - 1));

/** Binds a statement's arguments as both engines store them. Errors: those of `bindArgs`. */
export function bindForServer(stmt: InStatement): Bound {
  const sql = sqlOf(stmt);
  return { sql, args: bindArgs(shapeOf(sql).params, argsOf(stmt)) };
}

/**
 * Writes to a libSQL server over one kept stream. What needs no answer, such as the beginning of a unit, waits for the next
 * statements and goes with them. A group writes its number into a row of its own, which each unit reads before it begins: a
 * server that ended the transaction would commit each further statement alone.
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
  readonly #writer = randomBytes(12).toString("hex");
  #group = 0;
  #stream: KeptStream | undefined;
  #unsent: Bound[] = [];
  #unitAt = 0;

  constructor(connection: ServerConnection, lockDeadlineMs: number) {
    this.#connection = connection;
    this.#lockDeadlineMs = lockDeadlineMs;
  }

  begin(): boolean {
    this.#group++;
    const keep = { sql: keepGroup, args: [this.#writer, BigInt(this.#group)] };
    this.#unsent = [begin, control("PRAGMA synchronous"), keep];
    this.inTransaction = true;
    return true;
  }

  readonly waitForLock = pause;

  async yieldLock(): Promise<void> {}

  beginUnit(): void {
    this.#unitAt = this.#unsent.length;
    this.#unsent.push(this.#checkGroup(), savepoint);
  }

  run(stmts: readonly InStatement[]): Promise<Result[]> {
    return this.#send(stmts.map(bindForServer));
  }

  endUnit(): void {
    this.#unsent.push(release);
  }

  async undoUnit(): Promise<void> {
    if (this.#unsent.includes(savepoint, this.#unitAt)) this.#unsent.length = this.#unitAt;
    else await this.#send([rollbackTo, release]);
  }

  async commit(first: readonly InStatement[], unless: readonly InStatement[]): Promise<Result[] | undefined> {
    if (this.#unsent[0] === begin) {
      // No unit has sent anything.
      this.#end();
      return undefined;
    }
    const reads = unless.map(bindForServer);
    const found = reads.map(({ sql }) => `EXISTS (${sql})`).join(" OR ") || "false";
    const check = { sql: `SELECT CASE WHEN ${found} THEN ${failing} END`, args: reads.flatMap(({ args }) => args) };
    this.#unsent.push(this.#checkGroup());
    const before = [...first.map(bindForServer), ...reads];
    const outcomes = await this.#trip([...before, check, control("COMMIT")]).catch((error) => this.#findOut(error));
    if (outcomes === undefined) return undefined;
    const own = outcomes.slice(-before.length - 2);
    if (isResult(own.at(-1))) {
      this.#end();
      return undefined;
    }
    const results = own.slice(first.length, before.length);
    if (isOwnFailure(own.at(-2)) && results.every(isResult)) return results;
    throw this.#lose(outcomes.find((outcome) => outcome instanceof Error));
  }

  async abandon(): Promise<void> {
    const isBegun = this.inTransaction && this.#unsent[0] !== begin;
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

  /** Runs statements after those that wait, and returns their results. Errors: of the first that fails; unavailable. */
  async #send(stmts: Bound[]): Promise<Result[]> {
    const before = [...this.#unsent];
    const outcomes = await this.#trip(stmts).catch((error) => {
      if (!isOwnFailure(error)) throw this.#lose(error);
      // The server refuses a whole batch for a statement that it cannot parse, and has run nothing.
      this.#unsent.unshift(...before);
      throw mapServerError(error);
    });
    const failedAt = outcomes.findIndex((outcome) => !isResult(outcome));
    if (failedAt === -1) return outcomes.slice(-stmts.length) as Result[];
    const failure = outcomes[failedAt];
    if (failedAt < outcomes.length - stmts.length || !isOwnFailure(failure)) throw this.#lose(failure);
    throw mapServerError(failure);
  }

  /** Sends what waits and these statements, each only after the one before it; a busy server is asked again. */
  async #trip(stmts: Bound[]): Promise<Outcome[]> {
    if (!this.inTransaction) throw unavailable("The transaction has already ended.");
    const steps = [...this.#unsent.splice(0), ...stmts];
    const isFirst = steps[0] === begin;
    const deadline = performance.now() + this.#lockDeadlineMs;
    const stream = isFirst ? await this.#openStream() : this.#stream;
    for (;;) {
      // A server may let a BEGIN wait for the lock instead of refusing it.
      const left = isFirst ? deadline - performance.now() : undefined;
      const outcomes = await this.#runOn(stream, steps, left);
      if (isFirst && isBusy(outcomes[0]) && performance.now() < deadline) await pause();
      else {
        if (isFirst && isResult(outcomes[1])) this.#noteDurability(outcomes[1]);
        return outcomes;
      }
    }
  }

  async #runOn(stream: KeptStream | undefined, steps: Bound[], timeoutMs?: number): Promise<Outcome[]> {
    if (!this.#connection.isOpen(stream)) throw unavailable("The connection was lost.", { isInternal: true });
    const chained = steps.map((step, index): Step => ({ ...step, after: index === 0 ? undefined : index - 1 }));
    return this.#connection.run(stream, chained, timeoutMs);
  }

  async #openStream(): Promise<KeptStream> {
    this.#stream = await this.#connection.openStream(this.#stream);
    return this.#stream;
  }

  #noteDurability(mode: Outcome): void {
    this.isDurable = isResult(mode) && mode.rows[0]?.synchronous === 2;
    this.durabilityReadAt = performance.now();
  }

  /**
   * After a COMMIT without an answer: once another transaction has begun, the old one has ended, and its row tells how.
   * @throws unavailable where it did not commit, or the lock is not free in time.
   */
  async #findOut(cause: unknown): Promise<undefined> {
    const deadline = performance.now() + this.#lockDeadlineMs;
    const steps = [begin, { sql: readGroup, args: [this.#writer] }, control("ROLLBACK")];
    this.#connection.close();
    while (performance.now() < deadline) {
      const outcomes = await this.#openStream()
        .then((stream) => this.#runOn(stream, steps))
        .catch(() => [undefined]);
      const [, last, ended] = outcomes;
      if (isResult(last) && isResult(ended)) {
        if (last.rows[0]?.last_group !== this.#group) break;
        this.#end();
        return undefined;
      }
      if (!isBusy(outcomes[0])) this.#connection.close();
      await pause();
    }
    throw this.#lose(cause);
  }

  #checkGroup(): Bound {
    return { sql: checkGroup, args: [this.#writer, BigInt(this.#group)] };
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

function isResult(outcome: Outcome): outcome is Result {
  return outcome !== undefined && !(outcome instanceof Error);
}
