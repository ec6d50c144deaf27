import type { InStatement } from "@libsql/core/api";
import type { Result } from "../session.ts";

type Answer<T> = T | Promise<T>;

/**
 * The only connection on which a process writes, to a file or a server. Calls come in this order: `begin`; for each
 * unit `beginUnit`, `run`, and `endUnit` or `undoUnit`; at last `commit` or `abandon`.
 */
export interface Writer {
  /** How many units of plain statements may run together, which saves round trips to a server. */
  readonly maxTogether: number;
  /** Milliseconds that the first unit of the group may still wait for the lock; 0 if `begin` itself waits. */
  readonly lockMs: number;
  /** False once the transaction has ended, also when the database itself ended it. */
  readonly inTransaction: boolean;
  /**
   * Begins the transaction of a group. Returns false while another program holds the lock.
   * @param deadline until when the oldest unit of the group may wait for the lock, by `performance.now()`.
   */
  begin(deadline: number): Answer<boolean>;
  /** Waits for a moment before `begin` is called again. Missing if `begin` never returns false. */
  waitForLock?(): Promise<void>;
  yieldLock?(): Promise<void>;
  /** @param ahead reads that the COMMIT needs. A unit that may be the last sends them too; empty for other units. */
  beginUnit(ahead: readonly InStatement[]): void;
  /**
   * Runs statements of the unit, in order.
   * @throws the error of the first statement that fails. If it ended the transaction, `inTransaction` is false.
   */
  run(stmts: readonly InStatement[]): Answer<Result[]>;
  endUnit(): Answer<void>;
  /** Undoes what the unit wrote, and nothing else. */
  undoUnit(): Answer<void>;
  /**
   * Runs `first`, then commits, unless one of the reads in `unless` finds a row.
   * @throws the error of a statement of `first`. After any other error, `inTransaction` is false: the commit failed, or
   * its result is unknown.
   */
  commit(first: readonly InStatement[], unless: readonly InStatement[]): Answer<CommitResult>;
  /** Rolls the transaction back. Never throws. */
  abandon(): Answer<void>;
}

export interface CommitResult {
  /** Results of `first`; undefined if the group was committed but the answer was lost. */
  results: Result[] | undefined;
  /** Results of the reads in `unless`; undefined once the group is committed. */
  found?: Result[];
}

/** Work that every group does before its COMMIT. The group repeats it until none of the reads finds a row. */
export interface BeforeCommit {
  /** Each read selects rows that still need the work. */
  reads: readonly InStatement[];
  /** Returns the statements that do the work for the rows that the reads found. */
  finish(results: readonly Result[]): InStatement[];
}
