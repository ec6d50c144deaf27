import { AppError, unavailable } from "../../errors.ts";
import { mapDbError } from "../db-errors.ts";
import type { Connection } from "./connection.ts";

/** Tells a unit's handle that its time is over, so that late calls are refused instead of joining a stranger's unit. */
export interface UnitLife {
  ended: boolean;
}

/** One unit of the writer queue with the promise that waits for it. */
export interface Job {
  /** Runs with no transaction open. */
  alone: boolean;
  work: (life: UnitLife) => unknown;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
  /** On the clock of `performance.now()`: until when it may wait for the lock. */
  deadline: number;
}

/** Bounds of one group, in units and milliseconds, and who is told of its commit before its units are answered. */
export interface GroupBounds {
  groupUnits: number;
  groupMs: number;
  unitLimitMs: number;
  onCommit: () => void;
}

interface Outcome {
  job: Job;
  value?: unknown;
  error?: unknown;
  failed: boolean;
  /** True for a failure that an earlier, not yet committed unit may have caused. */
  tainted: boolean;
}

const savepoint = "SAVEPOINT bodega_unit";
const release = "RELEASE bodega_unit";
const rollbackTo = "ROLLBACK TO bodega_unit";

/**
 * Runs the jobs that `takeJob` hands out inside the transaction that is already open, commits, and only then answers
 * each of them. Returns whether a change was committed. Errors go to the jobs: their own, or unavailable when the group is
 * lost because SQLite could not commit it or gave the whole transaction up.
 */
export async function runGroup(
  connection: Connection,
  takeJob: () => Job | undefined,
  bounds: GroupBounds,
): Promise<boolean> {
  const outcomes: Outcome[] = [];
  const endsAt = performance.now() + bounds.groupMs;
  const watchdog = new Watchdog(bounds.unitLimitMs);
  let lost: unknown;
  let changed = false;
  try {
    while (outcomes.length < bounds.groupUnits && performance.now() < endsAt) {
      const job = takeJob();
      if (job === undefined) break;
      const outcome = await runUnit(connection, job, changed, watchdog);
      outcomes.push(outcome);
      if (!connection.inTransaction) {
        lost = outcome.error ?? new Error("The transaction was rolled back.");
        break;
      }
      changed ||= !outcome.failed;
    }
    if (lost === undefined) connection.run("COMMIT");
  } catch (error) {
    lost = error;
    abandonGroup(connection);
  } finally {
    watchdog.stop();
  }
  if (lost === undefined) bounds.onCommit();
  for (const outcome of outcomes) settle(outcome, lost);
  return changed && lost === undefined;
}

async function runUnit(connection: Connection, job: Job, afterOthers: boolean, watchdog: Watchdog): Promise<Outcome> {
  const life: UnitLife = { ended: false };
  try {
    connection.run(savepoint);
    let value = job.work(life);
    if (value instanceof Promise) value = await watchdog.limit(value, life);
    life.ended = true;
    connection.run(release);
    return { job, value, failed: false, tainted: false };
  } catch (error) {
    life.ended = true;
    undoUnit(connection);
    return { job, error, failed: true, tainted: afterOthers };
  }
}

function undoUnit(connection: Connection): void {
  try {
    if (!connection.inTransaction) return;
    connection.run(rollbackTo);
    connection.run(release);
  } catch {
    // What cannot be undone alone must not be committed with the others.
    abandonGroup(connection);
  }
}

function abandonGroup(connection: Connection): void {
  try {
    if (connection.inTransaction) connection.run("ROLLBACK");
  } catch {
    // The queue repeats a rollback that failed before it begins anew; nothing of the group is in the log.
  }
}

function settle(outcome: Outcome, lost: unknown): void {
  const { job } = outcome;
  if (!outcome.failed && lost === undefined) job.resolve(outcome.value as never);
  // A refusal that rests on rows of a lost group would be wrong; "try again" is right.
  else if (outcome.failed && (lost === undefined || !outcome.tainted)) job.reject(mapDbError(outcome.error));
  else job.reject(lossError(lost));
}

function lossError(lost: unknown): AppError {
  const mapped = mapDbError(lost);
  return mapped instanceof AppError && mapped.kind === "unavailable" ? mapped : unavailable(undefined, { cause: lost });
}

/** Ends a unit that waits for something else than the database; one timer serves the whole group. */
class Watchdog {
  readonly #limitMs: number;
  #timer: Timer | undefined;
  #watched: { life: UnitLife; since: number; expire: (error: AppError) => void } | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  limit(value: Promise<unknown>, life: UnitLife): Promise<unknown> {
    this.#timer ??= setInterval(() => this.#check(), Math.max(10, this.#limitMs / 5));
    return new Promise((resolve, reject) => {
      this.#watched = { life, since: performance.now(), expire: reject };
      value.then(resolve, reject);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const watched = this.#watched;
    if (watched === undefined || watched.life.ended || performance.now() - watched.since < this.#limitMs) return;
    watched.life.ended = true;
    watched.expire(unavailable("The transaction took too long.", { retryAfter: 1 }));
  }
}
