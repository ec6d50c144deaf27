import type { InStatement } from "@libsql/core/api";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import { AppError, unavailable } from "../../errors.ts";
import { mapDbError } from "../db-errors.ts";
import type { Result, Session } from "../session.ts";
import { WriteSession } from "./write-session.ts";
import type { BeforeCommit, Writer } from "./writer.ts";

/** A write that waits: statements whose results it gets, or a function. */
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
  /** Milliseconds that the first unit may take more, where it takes the lock. */
  lockMs: number;
  /** Loaded at the first group, since many commands only read. */
  beforeCommit?: (() => Promise<BeforeCommit>) | undefined;
}

interface Outcome {
  job: Job;
  value?: unknown;
  error?: unknown;
  hasFailed: boolean;
  /** True for a failure that an earlier, not yet committed unit may have caused. */
  isTainted: boolean;
}

/**
 * Runs the jobs that `take` returns inside the transaction that has begun, commits, and only then answers each of them.
 * Errors go to the jobs: their own, or unavailable when the group is lost, because it could not be committed or the
 * database ended the whole transaction.
 * @param take the next jobs, at most so many; several are units of statements.
 */
export async function runGroup(
  writer: Writer,
  take: (most: number) => Job[],
  options: GroupOptions,
): Promise<"changed" | "unchanged" | "lost"> {
  const outcomes: Outcome[] = [];
  let endsAt = Number.POSITIVE_INFINITY;
  let loss: unknown;
  let hasChanged = false;
  try {
    while (outcomes.length < options.maxGroup && performance.now() < endsAt && loss === undefined) {
      const jobs = take(writer.maxTogether);
      if (jobs.length === 0) break;
      const lockMs = outcomes.length === 0 ? options.lockMs : 0;
      outcomes.push(...(await runJobs(writer, jobs, hasChanged, options.writeTimeoutMs + lockMs)));
      endsAt = Math.min(endsAt, performance.now() + options.groupMs);
      if (!writer.inTransaction) loss = outcomes.at(-1)?.error ?? new Error("The transaction was rolled back.");
      hasChanged ||= outcomes.some(({ hasFailed }) => !hasFailed);
    }
    if (loss === undefined) await commit(writer, options.beforeCommit);
  } catch (error) {
    loss = error;
    await writer.abandon();
  }
  for (const outcome of outcomes) answer(outcome, loss);
  if (loss !== undefined) return "lost";
  return hasChanged ? "changed" : "unchanged";
}

const nothing = async (): Promise<BeforeCommit> => ({ reads: [], finish: () => [] });

async function commit(writer: Writer, load = nothing) {
  const { reads, finish } = await load();
  let left = await writer.commit([], reads);
  while (left !== undefined) {
    const stmts = finish(left);
    if (stmts.length === 0) throw new Error("The work before a commit does not end.");
    left = await writer.commit(stmts, reads);
  }
}

async function runJobs(writer: Writer, jobs: Job[], afterOthers: boolean, timeoutMs: number): Promise<Outcome[]> {
  const together = jobs.map(({ unit }) => ("stmts" in unit ? unit.stmts : []));
  const value = await runUnit(writer, jobs.length > 1 ? { stmts: together.flat() } : (jobs[0] as Job).unit, timeoutMs);
  if (jobs.length === 1) return [{ job: jobs[0] as Job, ...value, isTainted: afterOthers }];
  if (!value.hasFailed) {
    const results = value.value as Result[];
    return jobs.map((job, at) => {
      return { job, value: results.splice(0, together[at]?.length), hasFailed: false, isTainted: false };
    });
  }
  const outcomes: Outcome[] = [];
  for (const job of jobs) {
    const isLost = !writer.inTransaction;
    const ended = isLost ? value : await runUnit(writer, job.unit, timeoutMs);
    const isTainted = isLost || afterOthers || outcomes.some(({ hasFailed }) => !hasFailed);
    outcomes.push({ job, ...ended, isTainted });
  }
  return outcomes;
}

const tooLong = () => unavailable("The transaction took too long.");

async function runUnit(writer: Writer, unit: Unit, timeoutMs: number) {
  const session = new WriteSession(writer);
  try {
    writer.beginUnit();
    const value = await ("stmts" in unit
      ? writer.run(unit.stmts)
      : withTimeout(unit.work(session), timeoutMs, tooLong));
    session.end();
    writer.endUnit();
    return { value, hasFailed: false };
  } catch (error) {
    session.end();
    try {
      if (writer.inTransaction) await writer.undoUnit();
    } catch {
      // A unit that cannot be undone alone must not be committed with the others.
      await writer.abandon();
    }
    return { error, hasFailed: true };
  }
}

function answer({ job, value, error, hasFailed, isTainted }: Outcome, loss: unknown): void {
  if (!hasFailed && loss === undefined) job.resolve(value as never);
  // A refusal because of rows of a lost group would be wrong: the write can succeed when it is tried again.
  else if (hasFailed && (loss === undefined || !isTainted)) job.reject(mapDbError(error));
  else {
    const mapped = mapDbError(loss);
    const isUnavailable = mapped instanceof AppError && mapped.kind === "unavailable";
    job.reject(isUnavailable ? mapped : unavailable(undefined, { cause: loss }));
  }
}
