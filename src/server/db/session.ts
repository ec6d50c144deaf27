import type { InStatement, InValue, Row } from "@libsql/core/api";

export interface Result {
  rows: Row[];
  /** Rows inserted, updated or deleted. */
  rowsAffected: number;
}

/** The effect of a statement on its transaction, beside its result. */
export interface Marks {
  /** How many rows it must change. Otherwise the transaction begins again, on a file at most once. */
  mustChange?: number | undefined;
  /** Of a read: later statements with `mustChange` check what matters of it, so that a server need not run it once more. */
  isGuarded?: boolean | undefined;
  /** Of a batch whose result nobody needs: a file runs it just before the COMMIT that several batches share. */
  isDeferred?: boolean | undefined;
  /** Of a write whose arguments depend on the row that the one before it wrote: they are made when it runs. */
  chain?: Chain | undefined;
}

/** A chain of rows. A statement that adds one must change nothing if the chain has gone on. */
export interface Chain {
  /** Selects what the next row needs of the newest, as `last`. */
  select: string;
  /** The arguments of the row that follows it (null: of the first), and the `last` of that row. */
  follow(last: string | null): { args: InValue[]; last: string };
}

export type BatchMode = "read" | "write" | "last" | "end";

/** Something that runs SQL: the database itself or an open transaction. */
export interface Executor {
  /** Runs one statement. Errors: unavailable when the database cannot serve now; constraint errors stay as they are. */
  execute(stmt: InStatement): Promise<Result>;
  /**
   * Runs statements as one transaction, all or none; `read` sees one snapshot. Without a mode, `write`. Inside a transaction
   * `last` ends it with a write: on a server, they share an exchange. Afterwards the work can neither write nor fail. `end`
   * does so also for a transaction that was joined.
   */
  batch(stmts: InStatement[], mode?: BatchMode): Promise<Result[]>;
  /** The first row only, where the executor can fetch it more cheaply than all of them. */
  first?(stmt: InStatement): Promise<Row | undefined>;
}

/** The database as services get it in `ctx.db`. */
export interface Session extends Executor {
  /**
   * Runs `fn` in one write transaction and resolves after its COMMIT; inside a transaction it joins. `fn` must await
   * nothing but its `tx`, because it blocks every other writer; after 5 s it ends with unavailable. `fn` runs again when others
   * changed what it has seen, so it must leave nothing behind but its writes.
   */
  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T>;
}

export interface Database extends Session {
  readonly kind: "file" | "server";
  /** Runs statements as one write transaction with foreign keys off, as rebuilding a table needs. */
  migrate(stmts: InStatement[]): Promise<void>;
  /** A number that changes whenever anyone commits to the local file; null for a server. */
  dataVersion(): number | null;
  /** Moves the WAL into the database file; false when busy, or where there is no WAL. */
  checkpoint(): Promise<boolean>;
  /** After a write of this process was lost, tries a harmless one. Errors: unavailable, also for a damaged file. A server is not tried. */
  checkWrites(): Promise<void>;
  /** Size of the WAL in bytes, 0 where there is none. */
  walBytes(): number;
  /** False once the database file, its WAL or the WAL's index has been removed or replaced; true for a server. */
  isInPlace(): boolean;
  /** Renames the WAL of a database file that has been removed or replaced, and returns its new path. */
  setWalAside(): string | undefined;
  /** Resolves when every write that was queued before the call is answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}
