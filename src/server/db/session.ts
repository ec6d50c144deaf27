import type { Client, InStatement, Row } from "@libsql/core/api";

export interface Result {
  rows: Row[];
  rowsAffected: number;
}

/** A query of which only the first row is wanted. A local file fetches one row for less than a list. */
export interface FirstRow extends Exclude<InStatement, string> {
  firstOnly: true;
}

export function isFirstRow(stmt: InStatement): stmt is FirstRow {
  return typeof stmt === "object" && "firstOnly" in stmt;
}

export type BatchMode = "read" | "write";

export interface Executor {
  /** Runs one statement. Errors: unavailable when the database cannot serve now; constraint errors stay as they are. */
  execute(stmt: InStatement): Promise<Result>;
  /** Runs statements as one transaction, by default a `write`. Throws the error of the first statement that fails. */
  batch(stmts: InStatement[], mode?: BatchMode): Promise<Result[]>;
  /** Present only if the executor can fetch the first row more cheaply than all rows. Returns that row. */
  first?(stmt: InStatement): Promise<Row | undefined>;
}

export interface Session extends Executor {
  /**
   * Runs `fn` in one write transaction and resolves after its COMMIT. Inside a transaction, `fn` joins the outer one.
   * It must await nothing but its `tx`, because it blocks all other writers. If it takes longer than 5 s (on a server,
   * 1 s), the call fails with unavailable.
   */
  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T>;
}

export interface Database extends Session {
  readonly kind: "file" | "server";
  /** Runs statements as one write transaction with foreign keys off, which rebuilding a table requires. */
  migrate(stmts: InStatement[]): Promise<void>;
  /**
   * Only for a server: a plain client for copies of the whole database. Integers are bigint, calls may take minutes,
   * transactions have no time limit, and errors are not mapped.
   */
  copyClient?(): Client;
  /** A number that changes whenever anyone commits to the local file; null for a server. */
  dataVersion(): number | null;
  /** Moves the WAL into the database file. Returns false when busy, or without a WAL. */
  checkpoint(): Promise<boolean>;
  /**
   * On a file, tries a harmless write if an earlier write was lost. On a server, connects again if there is a `warning`
   * or the connection was not used recently. Errors: unavailable, also for a damaged file.
   */
  checkWrites(): Promise<void>;
  /** The reason why acknowledged writes may be lost, if there is one. */
  readonly warning?: string | undefined;
  walBytes(): number;
  /** False once the database file, its WAL or the WAL's index has been removed or replaced; true for a server. */
  isInPlace(): boolean;
  /** Renames the WAL of a database file that has been removed or replaced, and returns its new path. */
  quarantineWal(): string | undefined;
  /** Resolves when every write that was queued before the call is answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}
