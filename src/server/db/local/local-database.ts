import { statSync } from "node:fs";
import type { Client, InStatement, ResultSet, Row } from "@libsql/core/api";
import type { Database, Session } from "../session.ts";
import type { LocalClient } from "./local-client.ts";
import { LocalUnit } from "./local-transaction.ts";

const largeLogBytes = 4 * 1024 * 1024;

/** How the file database differs between the product and the tests. */
export interface LocalDatabaseOptions {
  kind: "memory" | "file";
  /** Runs after everything is closed, such as the removal of a temporary directory. */
  afterClose?: () => void;
  /** Whether a server works on the file, whose checkpointer then does what is due at close. */
  isServerRunning?: () => Promise<boolean>;
}

/** The file database: `LocalClient` behind the interface that services use. */
export class LocalDatabase implements Database {
  readonly kind: "memory" | "file";
  readonly client: Client;
  readonly #local: LocalClient;
  readonly #options: LocalDatabaseOptions;

  constructor(client: LocalClient, options: LocalDatabaseOptions) {
    this.kind = options.kind;
    this.client = client;
    this.#local = client;
    this.#options = options;
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
    return this.#local.reader.dataVersion();
  }

  checkpoint(): Promise<boolean> {
    return this.#local.checkpoint();
  }

  walBytes(): number {
    try {
      return statSync(`${this.#local.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // A directory that cannot be looked at just now is no reason to act.
      return 0;
    }
  }

  isInPlace(): boolean {
    return this.#local.isInPlace();
  }

  setLogAside(): string | undefined {
    return this.#local.setLogAside();
  }

  drain(): Promise<void> {
    return this.#local.queue.drain();
  }

  async close(): Promise<void> {
    if (this.#local.closed) return;
    await this.drain();
    if (this.#leavesLog() && (await this.#options.isServerRunning?.()) === false) {
      await this.checkpoint().catch(() => false);
    }
    this.#local.close();
    this.#options.afterClose?.();
  }

  #leavesLog(): boolean {
    return this.#local.queue.commits > 0 || this.walBytes() > largeLogBytes;
  }
}
