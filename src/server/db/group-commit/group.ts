import type { InStatement } from "@libsql/core/api";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import { AppError, unavailable } from "../../errors.ts";
import { mapDbError } from "../db-errors.ts";
import type { Result, Session } from "../session.ts";
import { WriteSession } from "./write-session.ts";
import type { BeforeCommit, Writer } from "./writer.ts";

export type Unit = { stmts: readonly InStatement[] } | { work: (tx: Session) => Promise<unknown> };

export interface Job {
  unit: Unit;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
}

export interface GroupOptions {
  maxGroup: number;
  /** Milliseconds after which a group accepts no further units. */
  groupMs: number;
  /** Milliseconds that one unit may take. */
  writeTimeoutMs: number;
  /** Loads the work to do before each COMMIT. Only groups call this, so that commands that only read do not load it. */
  beforeCommit?: (() => Promise<BeforeCommit>) | undefined;
}

interface Outcome {
  job: Job;
  value?: unknown;
  error?: unknown;
  hasFailed: boolean;
  /** Whether uncommitted changes of an earlier unit of the group may have caused the failure. */
  isTainted: boolean;
}

interface Queue {
  /** Takes the next job, or up to `most` jobs whose units are plain statements. */
  take: (most: number) => Job[];
  isEmpty: () => boolean;
}

/**
 * Runs jobs of the queue in the transaction that has begun, commits, and then answers each job. A failed job gets its
 * own error. If the database ends the transaction or cannot commit, the group is lost: all its jobs fail.
 */
export async function runGroup(
  writer: Writer,
  queue: Queue,
  options: GroupOptions,
): Promise<"changed" | "unchanged" | "lost"> {
  const group = new Group(writer, (await options.beforeCommit?.()) ?? { reads: [], finish: () => [] });
  let loss: unknown;
  try {
    await group.runUnits(queue, options);
    await group.commit();
  } catch (error) {
    loss = error;
    await writer.abandon();
  }
  for (const outcome of group.outcomes) answer(outcome, loss);
  if (loss !== undefined) return "lost";
  return group.hasChanged ? "changed" : "unchanged";
}

const tooLong = () => unavailable("The transaction took too long.");

class Group {
  readonly outcomes: Outcome[] = [];
  hasChanged = false;
  readonly #writer: Writer;
  readonly #beforeCommit: BeforeCommit;
  #isCommitted = false;

  constructor(writer: Writer, beforeCommit: BeforeCommit) {
    this.#writer = writer;
    this.#beforeCommit = beforeCommit;
  }

  /** Runs units until the queue is empty or the group is full. Throws the error that ended the transaction. */
  async runUnits({ take, isEmpty }: Queue, { maxGroup, groupMs, writeTimeoutMs }: GroupOptions) {
    let endsAt = Number.POSITIVE_INFINITY;
    while (this.outcomes.length < maxGroup && performance.now() < endsAt && !this.#isCommitted) {
      const jobs = take(this.#writer.maxTogether);
      if (jobs.length === 0) return;
      const timeoutMs = writeTimeoutMs + (this.outcomes.length === 0 ? this.#writer.lockMs : 0);
      // The last unit is sent to a server together with the COMMIT or the reads before it. This saves a round trip.
      const isLast = this.#writer.maxTogether > 1 && isEmpty();
      const outcomes = await this.#runJobs(jobs, isLast, timeoutMs);
      this.outcomes.push(...outcomes);
      endsAt = Math.min(endsAt, performance.now() + groupMs);
      if (!this.#isCommitted && !this.#writer.inTransaction) {
        throw outcomes.at(-1)?.error ?? new Error("The transaction was rolled back.");
      }
      this.hasChanged ||= outcomes.some(({ hasFailed }) => !hasFailed);
    }
  }

  async commit(): Promise<void> {
    if (!this.#isCommitted) await this.#commitAfter([]);
  }

  /** Runs `stmts`, then commits. If one of `stmts` fails, the group continues; any other error ends the group. */
  async #commitAfter(stmts: readonly InStatement[]): Promise<Result[] | undefined> {
    const { reads, finish } = this.#beforeCommit;
    const { results, found } = await this.#writer.commit(stmts, reads);
    try {
      for (let left = found; left !== undefined; ) {
        const rest = finish(left);
        if (rest.length === 0) throw new Error("The work before the commit made no progress.");
        left = (await this.#writer.commit(rest, reads)).found;
      }
    } catch (error) {
      // The statements of the unit did not cause the error, so the whole group is lost.
      await this.#writer.abandon();
      throw error;
    }
    this.#isCommitted = true;
    return results;
  }

  async #runJobs(jobs: Job[], isLast: boolean, timeoutMs: number): Promise<Outcome[]> {
    const together = jobs.map(({ unit }) => ("stmts" in unit ? unit.stmts : []));
    const unit = jobs.length > 1 ? { stmts: together.flat() } : (jobs[0] as Job).unit;
    const value = await this.#runUnit(unit, isLast, timeoutMs);
    if (jobs.length === 1) return [{ job: jobs[0] as Job, ...value, isTainted: this.hasChanged }];
    if (!value.hasFailed) {
      const results = value.value as Result[];
      return jobs.map((job, at) => {
        return { job, value: results.splice(0, together[at]?.length), hasFailed: false, isTainted: false };
      });
    }
    const outcomes: Outcome[] = [];
    for (const job of jobs) {
      const isLost = !this.#writer.inTransaction;
      const ended = isLost ? value : await this.#runUnit(job.unit, false, timeoutMs);
      const isTainted = isLost || this.hasChanged || outcomes.some(({ hasFailed }) => !hasFailed);
      outcomes.push({ job, ...ended, isTainted });
    }
    return outcomes;
  }

  async #runAndCommit(stmts: readonly InStatement[]): Promise<Result[]> {
    const results = await this.#commitAfter(stmts);
    if (results === undefined)
      throw unavailable(
        "The change was written, but its result was lost. Read the record instead of repeating the change.",
        { isInternal: true },
      );
    return results;
  }

  async #runUnit(unit: Unit, isLast: boolean, timeoutMs: number) {
    const writer = this.#writer;
    const session = new WriteSession(writer);
    try {
      writer.beginUnit(isLast ? this.#beforeCommit.reads : []);
      let value: unknown;
      if ("work" in unit) value = await withTimeout(unit.work(session), timeoutMs, tooLong);
      else value = await (isLast ? this.#runAndCommit(unit.stmts) : writer.run(unit.stmts));
      session.end();
      if (!this.#isCommitted) await writer.endUnit();
      return { value, hasFailed: false };
    } catch (error) {
      session.end();
      try {
        if (writer.inTransaction) await writer.undoUnit();
      } catch {
        // If a unit cannot be undone alone, the whole transaction is abandoned, so that the unit is not committed.
        await writer.abandon();
      }
      return { error, hasFailed: true };
    }
  }
}

function answer({ job, value, error, hasFailed, isTainted }: Outcome, loss: unknown): void {
  if (!hasFailed && loss === undefined) job.resolve(value as never);
  // A tainted unit may have failed because of rows that are now lost. It gets the error of the group: a retry can help.
  else if (hasFailed && (loss === undefined || !isTainted)) job.reject(mapDbError(error));
  else {
    const mapped = mapDbError(loss);
    const isUnavailable = mapped instanceof AppError && mapped.kind === "unavailable";
    job.reject(isUnavailable ? mapped : unavailable(undefined, { cause: loss }));
  }
}
