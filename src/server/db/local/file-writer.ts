import type { InStatement } from "@libsql/core/api";
import { argsOf, sqlOf } from "../bind-args.ts";
import { isBusy } from "../db-errors.ts";
import type { CommitResult, Writer } from "../group-commit/writer.ts";
import type { Result } from "../session.ts";
import type { Connection } from "./connection.ts";
import type { LockFairness } from "./lock-fairness.ts";

interface FileWriterOptions {
  /** Throws if the file must not be written any more. */
  requireFile: () => void;
  /** Runs after each COMMIT, before its writes are answered. */
  onCommit: () => void;
}

/** Writes to the local file. Its calls are answered at once. */
export class FileWriter implements Writer {
  readonly maxTogether = 1;
  readonly #connection: Connection;
  readonly #fairness: LockFairness;
  readonly #options: FileWriterOptions;

  constructor(connection: Connection, fairness: LockFairness, options: FileWriterOptions) {
    this.#connection = connection;
    this.#fairness = fairness;
    this.#options = options;
  }

  get inTransaction(): boolean {
    return this.#connection.inTransaction;
  }

  begin(): boolean {
    try {
      if (this.inTransaction) this.#connection.run("ROLLBACK");
      this.#connection.run("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  waitForLock(): Promise<void> {
    return this.#fairness.waitForLock();
  }

  yieldLock(): Promise<void> {
    return this.#fairness.yieldLock();
  }

  beginUnit(): void {
    this.#connection.run("SAVEPOINT bodega_unit");
  }

  run(stmts: readonly InStatement[]): Result[] {
    return stmts.map((stmt) => this.#connection.run(sqlOf(stmt), argsOf(stmt)));
  }

  endUnit(): void {
    this.#connection.run("RELEASE bodega_unit");
  }

  undoUnit(): void {
    this.#connection.run("ROLLBACK TO bodega_unit");
    this.endUnit();
  }

  commit(first: readonly InStatement[], unless: readonly InStatement[]): CommitResult {
    const results = this.run(first);
    const found = this.run(unless);
    if (found.some(({ rows }) => rows.length > 0)) return { results, found };
    this.#options.requireFile();
    this.#connection.run("COMMIT");
    this.#options.onCommit();
    return { results };
  }

  abandon(): void {
    try {
      if (this.inTransaction) this.#connection.run("ROLLBACK");
    } catch {
      // ROLLBACK is repeated before the next BEGIN; nothing of the group is in the WAL.
    }
  }
}
