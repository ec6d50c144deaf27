import type { Client, InStatement, ResultSet, Row } from "@libsql/core/api";

/** Something that takes SQL: the database itself or an open transaction. */
export interface Executor {
  /** Runs one statement. Errors: unavailable when the database cannot serve now; constraint errors stay as they are. */
  execute(stmt: InStatement): Promise<ResultSet>;
  /** Runs statements as one transaction, all or none; `read` sees one snapshot. Without a mode, `write`. */
  batch(stmts: InStatement[], mode?: "read" | "write"): Promise<ResultSet[]>;
  /** The first row only, where the executor can fetch it more cheaply than all of them. */
  first?(stmt: InStatement): Promise<Row | undefined>;
}

/** What services hold as `ctx.db`. */
export interface Session extends Executor {
  /**
   * Runs `fn` in one write transaction and answers after its COMMIT; inside a transaction it joins. `fn` waits for
   * nothing but its `tx`: other waits hold up every writer, and 5 s end it with unavailable.
   */
  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T>;
}

/** An open database (`memory` is a file database for tests). */
export interface Database extends Session {
  readonly kind: "memory" | "file" | "server";
  /** For drizzle's query builder. */
  readonly client: Client;
  /** A number that changes whenever anyone commits to the local file; null where the database cannot say. */
  dataVersion(): number | null;
  /** Moves the write-ahead log into the database file; false when busy, or where there is no such log. */
  checkpoint(): Promise<boolean>;
  /** Size of the write-ahead log in bytes, 0 where there is none. */
  walBytes(): number;
  /** False once the file of the database, or its log, has been removed or replaced; true where there is none. */
  isInPlace(): boolean;
  /** Renames the log of a file that is not in place any more, and answers its new path. */
  setLogAside(): string | undefined;
  /** Resolves when every write that was queued before the call is answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}
