import type { Client, InStatement, Row } from "@libsql/core/api";

export interface Result {
  rows: Row[];
  rowsAffected: number;
}

/** A query whose first row is enough. A local file returns one row faster than a list. */
export interface FirstRow extends Exclude<InStatement, string> {
  firstOnly: true;
}

export function isFirstRow(stmt: InStatement): stmt is FirstRow {
  return typeof stmt === "object" && "firstOnly" in stmt;
}

export type BatchMode = "read" | "write";

export interface Executor {
  /** Runs one statement. Throws unavailable if the database cannot answer now; errors of constraints are not mapped. */
  execute(stmt: InStatement): Promise<Result>;
  /** Runs statements as one transaction, by default a `write`. Throws the error of the first statement that fails. */
  batch(stmts: InStatement[], mode?: BatchMode): Promise<Result[]>;
}

export interface Session extends Executor {
  /**
   * Runs `fn` in one write transaction and resolves after its COMMIT. Inside a transaction, `fn` joins the outer one.
   * `fn` must await nothing but its `tx`, because it blocks all other writers. If `fn` takes longer than 5 s (on a
   * server, 1 s), the call fails with unavailable.
   */
  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T>;
}

export interface Database extends Session {
  readonly kind: "file" | "server";
  /** Runs statements as one write transaction with foreign keys off, which rebuilding a table requires. */
  migrate(stmts: InStatement[]): Promise<void>;
  /**
   * Returns a plain client for copies of the whole database. Only a server has this function. Integers are bigint,
   * calls may take minutes, transactions have no time limit, and errors are not mapped.
   */
  copyClient?(): Client;
  /** Returns a number that changes with each commit to the local file, by any process; null for a server. */
  dataVersion(): number | null;
  /**
   * Tries a harmless write if an earlier write was lost; on a server, only if writes have failed for a while. Connects to
   * a server again if there is a `warning` or no recent call. Errors: unavailable, also for a damaged file.
   */
  checkWrites(): Promise<void>;
  /** The reason why acknowledged writes may be lost, if there is one. */
  readonly warning?: string | undefined;
  /** Waits until the queued writes are answered, then closes the database. */
  close(): Promise<void>;
}
