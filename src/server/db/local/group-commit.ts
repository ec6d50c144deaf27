import { AppError, unavailable } from "../../errors.ts";
import { mapDbError } from "../db-errors.ts";
import type { Connection } from "./connection.ts";

/** Marks the end of a write, so that late calls of its session are refused instead of joining another write. */
export interface WriteScope {
  hasEnded: boolean;
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
  const watchdog = new Watchdog(options.writeTimeoutMs);
  let loss: unknown;
  let hasChanged = false;
  try {
    while (outcomes.length < options.maxGroup && performance.now() < endsAt) {
      const job = nextJob();
      if (job === undefined) break;
      const outcome = await runWrite(connection, job, hasChanged, watchdog);
      outcomes.push(outcome);
      if (!connection.inTransaction) {
        loss = outcome.error ?? new Error("The transaction was rolled back.");
        break;
      }
      hasChanged ||= !outcome.hasFailed;
    }
    if (loss === undefined) {
      options.beforeCommit();
      connection.run("COMMIT");
    }
  } catch (error) {
    loss = error;
    abandonGroup(connection);
  } finally {
    watchdog.stop();
  }
  if (loss === undefined) options.onCommit();
  for (const outcome of outcomes) answer(outcome, loss);
  if (loss !== undefined) return "lost";
  return hasChanged ? "changed" : "unchanged";
}

async function runWrite(connection: Connection, job: Job, afterOthers: boolean, watchdog: Watchdog): Promise<Outcome> {
  const scope: WriteScope = { hasEnded: false };
  try {
    connection.run(savepoint);
    let value = job.work(scope);
    if (value instanceof Promise) value = await watchdog.limit(value, scope);
    scope.hasEnded = true;
    connection.run(release);
    return { job, value, hasFailed: false, isTainted: false };
  } catch (error) {
    scope.hasEnded = true;
    undoWrite(connection);
    return { job, error, hasFailed: true, isTainted: afterOthers };
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

/** Ends a write that waits for something other than the database; one timer serves the whole group. */
class Watchdog {
  readonly #timeoutMs: number;
  #timer: Timer | undefined;
  #watched: { scope: WriteScope; since: number; expire: (error: AppError) => void } | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  limit(value: Promise<unknown>, scope: WriteScope): Promise<unknown> {
    this.#timer ??= setInterval(() => this.#check(), Math.max(10, this.#timeoutMs / 5));
    return new Promise((resolve, reject) => {
      this.#watched = { scope, since: performance.now(), expire: reject };
      value.then(resolve, reject);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const watched = this.#watched;
    if (watched === undefined || watched.scope.hasEnded || performance.now() - watched.since < this.#timeoutMs) return;
    watched.scope.hasEnded = true;
    watched.expire(unavailable("The transaction took too long."));
  }
}
