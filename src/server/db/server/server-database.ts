import type { Client, InStatement } from "@libsql/core/api";
import { validationFailed } from "../../errors.ts";
import { Semaphore } from "../../values/semaphore.ts";
import { sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Database, Result, Session } from "../session.ts";
import { bindForServer, retryWhileBusy } from "./calls.ts";
import { ServerTransaction } from "./transaction.ts";

const requestTimeoutMs = 10_000;
/** Of calls that read a whole database, or index it. */
const copyTimeoutMs = 600_000;
const maxRequests = 64;
// The server runs one writer at a time. A second write in flight hides the network; more would only wait there.
const maxWrites = 2;
const fullMessage = "Too many writes are waiting.";

/**
 * A libSQL server's database over HTTP. Arguments are bound as for a file, calls to a busy server are retried until the
 * deadline, interactive transactions of this process run one after another, and network errors are unavailable.
 */
export class ServerDatabase implements Database {
  readonly kind = "server";
  readonly #client: Client;
  readonly #connectForCopies: () => Client;
  readonly #lockDeadlineMs: number;
  readonly #writes: Semaphore;
  readonly #transactions: Semaphore;
  #copyClient: Client | undefined;

  constructor(client: Client, connectForCopies: () => Client, lockDeadlineMs: number) {
    this.#client = client;
    this.#connectForCopies = connectForCopies;
    this.#lockDeadlineMs = lockDeadlineMs;
    this.#writes = new Semaphore({ permits: maxWrites, maxWaitMs: lockDeadlineMs, fullMessage });
    this.#transactions = new Semaphore({ permits: 1, maxWaitMs: lockDeadlineMs, fullMessage });
  }

  async execute(stmt: InStatement): Promise<Result> {
    const bound = bindForServer(stmt);
    const run = () => this.#client.execute(bound);
    return shapeOf(bound.sql).reads ? this.#retry(run) : this.#write(run);
  }

  async batch(stmts: InStatement[], mode: "read" | "write" = "write"): Promise<Result[]> {
    const bound = stmts.map(bindForServer);
    if (mode === "write") return this.#write(() => this.#client.batch(bound, "write"));
    if (!stmts.every((stmt) => shapeOf(sqlOf(stmt)).reads)) {
      throw new TypeError("A read batch takes only statements that read.");
    }
    return this.#retry(() => this.#client.batch(bound, "read"));
  }

  async transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    const begin = () => this.#client.transaction("write");
    return this.#transactions.run(() => new ServerTransaction(begin, this.#lockDeadlineMs).run(fn));
  }

  async migrate(stmts: InStatement[]): Promise<void> {
    const bound = stmts.map(bindForServer);
    await this.#write(() => this.#client.migrate(bound));
  }

  /**
   * The bare client for copies of the whole database: integers are bigint, calls may take minutes, transactions have no
   * time limit of ours, and errors are not mapped. It is closed with the database.
   */
  copyClient(): Client {
    this.#copyClient ??= this.#connectForCopies();
    return this.#copyClient;
  }

  dataVersion(): null {
    return null;
  }

  async checkpoint(): Promise<boolean> {
    return false;
  }

  async checkWrites(): Promise<void> {}

  walBytes(): number {
    return 0;
  }

  isInPlace(): boolean {
    return true;
  }

  setWalAside(): undefined {
    return undefined;
  }

  async drain(): Promise<void> {
    await Promise.all([this.#writes.drain(), this.#transactions.drain()]);
    // A permit is released a moment before its caller has the answer.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    if (this.#client.closed) return;
    await this.drain();
    this.#copyClient?.close();
    this.#client.close();
  }

  #write<T>(work: () => Promise<T>): Promise<T> {
    return this.#writes.run(() => this.#retry(work));
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryWhileBusy(work, this.#lockDeadlineMs);
  }
}

/** Opens a server's database; nothing is sent before the first call. Errors: validationFailed for an unusable address. */
export async function openServer(url: string, authToken: string | undefined, lockDeadlineMs: number) {
  const { createClient } = await import("@libsql/client/http");
  const connect = (timeoutMs: number, intMode: "number" | "bigint") =>
    createClient({
      // The WebSocket forms of an address reach the same server; HTTP survives its restart without a reconnect.
      url: url.replace(/^ws(s?):/, "http$1:"),
      ...(authToken === undefined ? {} : { authToken }),
      concurrency: maxRequests,
      intMode,
      fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }),
    });
  try {
    return new ServerDatabase(
      connect(requestTimeoutMs, "number"),
      () => connect(copyTimeoutMs, "bigint"),
      lockDeadlineMs,
    );
  } catch (cause) {
    throw validationFailed("The database address is not the address of a libSQL server.", { cause });
  }
}
