import type { InStatement, Row } from "@libsql/core/api";
import { AppError, unavailable } from "../../errors.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { argsOf, sqlOf } from "../bind-args.ts";
import { mapDbError } from "../db-errors.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Marks, Result, Session } from "../session.ts";
import type { Connection } from "./connection.ts";

export interface WriteScope {
  /** Marks the end of a write, so that late calls of its session are refused instead of joining another write. */
  hasEnded: boolean;
  /** Statements that run before the COMMIT if the write succeeds. */
  deferred: InStatement[];
}

export interface Job {
  /** Runs with no transaction open. */
  isExclusive: boolean;
  work: (scope: WriteScope) => unknown;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
  /** The time until which it may wait for the lock, by `performance.now()`. */
  deadline: number;
}

export interface GroupOptions {
  maxGroup: number;
  /** Milliseconds after which a group accepts no further writes. */
  groupMs: number;
  /** Milliseconds that one write may take. */
  writeTimeoutMs: number;
  /** Runs just before each COMMIT. An error that it throws loses the group. */
  beforeCommit: () => void;
  /** Runs after each COMMIT, before its writes are answered. */
  onCommit: () => void;
}

interface Outcome {
  job: Job;
  value?: unknown;
  error?: unknown;
  deferred: InStatement[];
  hasFailed: boolean;
  /** True for a failure that an earlier, not yet committed write may have caused. */
  isTainted: boolean;
}

const savepoint = "SAVEPOINT bodega_write";
const release = "RELEASE bodega_write";
const rollbackTo = "ROLLBACK TO bodega_write";

/**
 * Runs the jobs that `nextJob` returns inside the transaction that is already open, commits, and only then answers each of
 * them. Errors go to the jobs: their own, or unavailable when the group is lost because SQLite could not commit it or
 * rolled the whole transaction back.
 */
export async function runGroup(
  connection: Connection,
  nextJob: () => Job | undefined,
  options: GroupOptions,
): Promise<"changed" | "unchanged" | "lost"> {
  const outcomes: Outcome[] = [];
  const endsAt = performance.now() + options.groupMs;
  let loss: unknown;
  let hasChanged = false;
  try {
    while (outcomes.length < options.maxGroup && performance.now() < endsAt) {
      const job = nextJob();
      if (job === undefined) break;
      const outcome = await runWrite(connection, job, hasChanged, options);
      outcomes.push(outcome);
      if (!connection.inTransaction) {
        loss = outcome.error ?? new Error("The transaction was rolled back.");
        break;
      }
      hasChanged ||= !outcome.hasFailed;
    }
    if (loss === undefined) {
      for (const stmt of outcomes.flatMap(({ deferred }) => deferred)) connection.run(sqlOf(stmt), argsOf(stmt));
      options.beforeCommit();
      connection.run("COMMIT");
    }
  } catch (error) {
    loss = error;
    abandonGroup(connection);
  }
  if (loss === undefined) options.onCommit();
  for (const outcome of outcomes) answer(outcome, loss);
  if (loss !== undefined) return "lost";
  return hasChanged ? "changed" : "unchanged";
}

const tooLong = () => unavailable("The transaction took too long.");

async function runWrite(
  connection: Connection,
  job: Job,
  afterOthers: boolean,
  { writeTimeoutMs }: GroupOptions,
): Promise<Outcome> {
  const scope: WriteScope = { hasEnded: false, deferred: [] };
  try {
    connection.run(savepoint);
    let value = job.work(scope);
    if (value instanceof Promise) value = await withTimeout(value, writeTimeoutMs, tooLong);
    scope.hasEnded = true;
    connection.run(release);
    return { job, value, deferred: scope.deferred, hasFailed: false, isTainted: false };
  } catch (error) {
    scope.hasEnded = true;
    undoWrite(connection);
    return { job, error, deferred: [], hasFailed: true, isTainted: afterOthers };
  }
}

function undoWrite(connection: Connection): void {
  try {
    if (!connection.inTransaction) return;
    connection.run(rollbackTo);
    connection.run(release);
  } catch {
    // A write that cannot be undone alone must not be committed with the others.
    abandonGroup(connection);
  }
}

function abandonGroup(connection: Connection): void {
  try {
    if (connection.inTransaction) connection.run("ROLLBACK");
  } catch {
    // The queue repeats a failed rollback before its next BEGIN; nothing of the group is in the WAL.
  }
}

function answer(outcome: Outcome, loss: unknown): void {
  const { job } = outcome;
  if (!outcome.hasFailed && loss === undefined) job.resolve(outcome.value as never);
  // A refusal because of rows of a lost group would be wrong: the write can succeed when it is tried again.
  else if (outcome.hasFailed && (loss === undefined || !outcome.isTainted)) job.reject(mapDbError(outcome.error));
  else {
    const mapped = mapDbError(loss);
    const isUnavailable = mapped instanceof AppError && mapped.kind === "unavailable";
    job.reject(isUnavailable ? mapped : unavailable(undefined, { cause: loss }));
  }
}

const controlVerbs = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK"]);
export const changedMeanwhile = new Error("A statement changed other rows than it must.");

/** The session that a transaction's work gets. Errors of every call: unavailable once the transaction has ended. */
export class WriteSession implements Session {
  readonly #connection: Connection;
  readonly #scope: WriteScope;

  constructor(connection: Connection, scope: WriteScope) {
    this.#connection = connection;
    this.#scope = scope;
  }

  async execute(stmt: InStatement): Promise<Result> {
    return this.#run(stmt);
  }

  async batch(stmts: InStatement[]): Promise<Result[]> {
    return stmts.map((stmt) => this.#run(stmt));
  }

  async first(stmt: InStatement): Promise<Row | undefined> {
    return this.#run(stmt).rows[0];
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }

  #run(stmt: InStatement): Result {
    if (this.#scope.hasEnded) throw unavailable("The transaction has already ended.");
    const sql = sqlOf(stmt);
    if (controlVerbs.has(shapeOf(sql).verb) && !/^\s*ROLLBACK\s+(?:TRANSACTION\s+)?TO\b/i.test(sql)) {
      throw new TypeError("A transaction ends when its function does, not by a statement.");
    }
    const { chain, mustChange } = stmt as Marks;
    const last = chain && this.#connection.run(chain.select).rows[0]?.last;
    const args = chain ? chain.follow((last ?? null) as string | null).args : argsOf(stmt);
    const result = this.#connection.run(sql, args);
    if (result.rowsAffected !== (mustChange ?? result.rowsAffected)) throw changedMeanwhile;
    return result;
  }
}
