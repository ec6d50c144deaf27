import type { InStatement } from "@libsql/core/api";
import type { Result } from "../session.ts";

type Answer<T> = T | Promise<T>;

/**
 * The one connection of a process that writes, to a file or to a server. The group commit uses it in one order: `begin`,
 * then for each unit `beginUnit`, `run` and `endUnit` or `undoUnit`, and at last `commit` or `abandon`.
 */
export interface Writer {
  /** How many units of plain statements may run together, to save trips to a server. */
  readonly maxTogether: number;
  /** False once the transaction has ended, also when the database itself has ended it. */
  readonly inTransaction: boolean;
  /** Begins the transaction of a group. False while another program holds the lock. */
  begin(): Answer<boolean>;
  /** Waits a moment before `begin` is tried again. */
  waitForLock(): Promise<void>;
  /** Lets others write, after a group. */
  yieldLock(): Promise<void>;
  /** @param ahead what the commit will ask for, where this may be the last unit of its group. */
  beginUnit(ahead: readonly InStatement[]): void;
  /**
   * Runs statements of the unit, in order.
   * @throws the error of the first that fails. After one that ended the transaction, `inTransaction` is false.
   */
  run(stmts: readonly InStatement[]): Answer<Result[]>;
  endUnit(): void;
  /** Undoes what the unit wrote, and only that. */
  undoUnit(): Answer<void>;
  /**
   * Runs `first`, then commits, unless one of the statements `unless` finds a row.
   * @throws the error of the first of `first` that fails; another one when nothing was committed, or when that cannot be
   * found out. After these, `inTransaction` is false.
   */
  commit(first: readonly InStatement[], unless: readonly InStatement[]): Answer<CommitResult>;
  /** Gives the transaction up. Never throws. */
  abandon(): Answer<void>;
}

export interface CommitResult {
  /** Of the statements that ran first; undefined where the answer was lost, although it is committed. */
  results: Result[] | undefined;
  /** What the other statements found; undefined once it is committed. */
  found?: Result[];
}

/** What has to happen once before each COMMIT, whatever its units wrote. */
export interface BeforeCommit {
  /** Each selects rows with which something is left to do. */
  reads: readonly InStatement[];
  /** The statements that do it. They leave fewer rows for the reads, which run again. */
  finish(results: readonly Result[]): InStatement[];
}
