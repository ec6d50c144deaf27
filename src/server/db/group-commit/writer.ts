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
  beginUnit(): void;
  /**
   * Runs statements of the unit, in order.
   * @throws the error of the first that fails. After one that ended the transaction, `inTransaction` is false.
   */
  run(stmts: readonly InStatement[]): Answer<Result[]>;
  endUnit(): void;
  /** Undoes what the unit wrote, and only that. */
  undoUnit(): Answer<void>;
  /**
   * Runs `first`, then commits, unless one of the statements `unless` finds a row: then it returns their results instead.
   * @throws when nothing was committed, or when that cannot be found out.
   */
  commit(first: readonly InStatement[], unless: readonly InStatement[]): Answer<Result[] | undefined>;
  /** Gives the transaction up. Never throws. */
  abandon(): Answer<void>;
}

/** What has to happen once before each COMMIT, whatever its units wrote. */
export interface BeforeCommit {
  /** Each selects rows with which something is left to do. */
  reads: readonly InStatement[];
  /** The statements that do it. They leave fewer rows for the reads, which run again. */
  finish(results: readonly Result[]): InStatement[];
}
