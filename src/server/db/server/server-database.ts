import type { Client, InStatement, ResultSet } from "@libsql/core/api";
import type { Database, Session } from "../session.ts";
import { openServerClient, type ServerClient, type ServerOptions } from "./server-client.ts";
import type { ServerTransaction } from "./server-transaction.ts";

/** A libSQL server behind the interface that services use. */
export class ServerDatabase implements Database {
  readonly kind = "server";
  readonly #server: ServerClient;

  constructor(client: ServerClient) {
    this.#server = client;
  }

  get client(): Client {
    return this.#server;
  }

  execute(stmt: InStatement): Promise<ResultSet> {
    return this.#server.execute(stmt);
  }

  batch(stmts: InStatement[], mode: "read" | "write" = "write"): Promise<ResultSet[]> {
    return this.#server.batch(stmts, mode);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return runServerTransaction(this.#server, fn);
  }

  /** Null: only the server knows of its commits. */
  dataVersion(): null {
    return null;
  }

  async checkpoint(): Promise<boolean> {
    return false;
  }

  walBytes(): number {
    return 0;
  }

  isInPlace(): boolean {
    return true;
  }

  setLogAside(): undefined {
    return undefined;
  }

  drain(): Promise<void> {
    return this.#server.drain();
  }

  async close(): Promise<void> {
    if (this.#server.closed) return;
    await this.drain();
    this.#server.close();
  }
}

/** Opens a server's database. Errors: validationFailed for an unusable address; an unreachable server shows at the first call. */
export async function openServer(options: ServerOptions): Promise<ServerDatabase> {
  return new ServerDatabase(await openServerClient(options));
}

/** Runs `fn` in an interactive transaction of the server and answers after its COMMIT. */
export async function runServerTransaction<T>(client: ServerClient, fn: (tx: Session) => Promise<T>): Promise<T> {
  const transaction = await client.transaction("write");
  try {
    const value = await Promise.race([fn(new ServerUnit(transaction)), transaction.expired]);
    await transaction.commit();
    return value;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

class ServerUnit implements Session {
  readonly #transaction: ServerTransaction;

  constructor(transaction: ServerTransaction) {
    this.#transaction = transaction;
  }

  execute(stmt: InStatement): Promise<ResultSet> {
    return this.#transaction.execute(stmt);
  }

  batch(stmts: InStatement[]): Promise<ResultSet[]> {
    return this.#transaction.batch(stmts);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }
}
