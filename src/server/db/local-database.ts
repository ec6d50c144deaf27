import { statSync } from "node:fs";
import type { Client, InStatement, ResultSet, Row } from "@libsql/core/api";
import { sqlOf } from "./bind-args.ts";
import { truncateLog } from "./checkpoint.ts";
import { Connection } from "./connection.ts";
import type { Libsql } from "./load-libsql.ts";
import type { LocalClient } from "./local-client.ts";
import { LocalUnit } from "./local-transaction.ts";
import { shapeOf } from "./scan-sql.ts";
import type { Database, Session } from "./session.ts";

/** How the file database differs between the product and the tests. */
export interface LocalDatabaseOptions {
  kind: "memory" | "file";
  /** Runs after everything is closed, such as the removal of a temporary directory. */
  afterClose?: () => void;
  /** Decides at close whether this process should empty the log, because no server is there to do it. */
  mayCheckpointAtClose?: () => Promise<boolean>;
}

/** The file database: `LocalClient` behind the interface that services use. */
export class LocalDatabase implements Database {
  readonly kind: "memory" | "file";
  readonly client: Client;
  readonly #local: LocalClient;
  readonly #libsql: Libsql;
  readonly #options: LocalDatabaseOptions;
  #checkpointer: Connection | undefined;

  constructor(libsql: Libsql, client: LocalClient, options: LocalDatabaseOptions) {
    this.kind = options.kind;
    this.client = client;
    this.#local = client;
    this.#libsql = libsql;
    this.#options = options;
  }

  get primary(): Session {
    return this;
  }

  /** The file client, for what only the data layer does: migrations, backups, tests. */
  get local(): LocalClient {
    return this.#local;
  }

  execute(stmt: InStatement): Promise<ResultSet> {
    return this.#local.execute(stmt);
  }

  batch(stmts: InStatement[], mode: "read" | "write" = "write"): Promise<ResultSet[]> {
    return this.#local.batch(stmts, mode);
  }

  first(stmt: InStatement): Promise<Row | undefined> {
    return this.#local.first(stmt);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    const { queue, writer } = this.#local;
    return queue.enqueue((life) => fn(new LocalUnit(writer, life)));
  }

  dataVersion(): number | null {
    return this.#local.reader.first("PRAGMA data_version")?.[0] as number;
  }

  async checkpoint(): Promise<boolean> {
    if (this.#local.closed || this.#local.readTransactions.open > 0) return false;
    this.#checkpointer ??= new Connection(this.#libsql, this.#local.path, { busyTimeoutMs: 10_000 });
    return truncateLog(this.#local.queue, this.#local.writer, this.#checkpointer);
  }

  walBytes(): number {
    return statSync(`${this.#local.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  drain(): Promise<void> {
    return this.#local.queue.drain();
  }

  async close(): Promise<void> {
    if (this.#local.closed) return;
    await this.drain();
    if (this.walBytes() > 0 && (await this.#options.mayCheckpointAtClose?.())) await this.checkpoint();
    this.#checkpointer?.close();
    this.#local.close();
    this.#options.afterClose?.();
  }
}

/** True when a statement only reads; such a statement may be answered by a copy. */
export function onlyReads(stmt: InStatement): boolean {
  return shapeOf(sqlOf(stmt)).reads;
}
