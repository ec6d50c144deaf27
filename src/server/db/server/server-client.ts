import type {
  Client,
  InArgs,
  InStatement,
  Replicated,
  ResultSet,
  Transaction,
  TransactionMode,
} from "@libsql/core/api";
import { validationFailed } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import { Turns } from "../turns.ts";
import { bindForServer, bindReads, retryWhileBusy } from "./server-calls.ts";
import { ServerTransaction } from "./server-transaction.ts";

type Statement = InStatement | [string, InArgs?];

const requestLimitMs = 10_000;
/** Of calls that look at a whole database, or make an index of it. */
const copyRequestLimitMs = 600_000;
const requestsAtOnce = 64;
// The server runs one writer at a time: a second one in flight hides the network, more would only wait there.
const writesAtOnce = 2;

/** Where a database server is and how long to try. */
export interface ServerOptions {
  url: string;
  authToken: string | undefined;
  lockDeadlineMs: number;
}

/**
 * The `Client` of a libSQL server, spoken to over HTTP: arguments are bound as locally, a busy server is asked again
 * until the deadline, interactive transactions of this process take turns, and network trouble is unavailable.
 */
export class ServerClient implements Client {
  readonly protocol = "http";
  readonly #client: Client;
  readonly #connectForCopies: () => Client;
  readonly #deadlineMs: number;
  readonly #writes = new Turns(writesAtOnce);
  readonly #transactions = new Turns(1);
  #copies: Client | undefined;

  constructor(client: Client, connectForCopies: () => Client, lockDeadlineMs: number) {
    this.#client = client;
    this.#connectForCopies = connectForCopies;
    this.#deadlineMs = lockDeadlineMs;
  }

  get closed(): boolean {
    return this.#client.closed;
  }

  execute(stmt: InStatement): Promise<ResultSet>;
  execute(sql: string, args?: InArgs): Promise<ResultSet>;
  async execute(stmt: InStatement, args?: InArgs): Promise<ResultSet> {
    const bound = bindForServer(args === undefined ? stmt : { sql: sqlOf(stmt), args });
    if (shapeOf(sqlOf(bound)).reads) return this.#untilFree(() => this.#client.execute(bound));
    return this.#write(() => this.#client.execute(bound));
  }

  async batch(stmts: Statement[], mode: TransactionMode = "write"): Promise<ResultSet[]> {
    if (mode === "read") {
      const reads = bindReads(stmts);
      return this.#untilFree(() => this.#client.batch(reads, "read"));
    }
    const bound = stmts.map(bindForServer);
    return this.#write(() => this.#client.batch(bound, "write"));
  }

  async migrate(stmts: InStatement[]): Promise<ResultSet[]> {
    const bound = stmts.map(bindForServer);
    return this.#write(() => this.#client.migrate(bound));
  }

  async executeMultiple(sql: string): Promise<void> {
    return this.#write(() => this.#client.executeMultiple(sql));
  }

  async transaction(mode: TransactionMode = "write"): Promise<ServerTransaction> {
    const giveBack = await this.#transactions.take(this.#deadlineMs);
    const begin = () => this.#client.transaction(mode) as Promise<Transaction>;
    return new ServerTransaction(begin, { deadlineMs: this.#deadlineMs, atEnd: giveBack });
  }

  /**
   * The bare client for copies of the whole database: integers are bigint, calls may take minutes, transactions have no
   * limit of ours, and errors are as the server gives them. It is closed with this one.
   */
  forCopies(): Client {
    this.#copies ??= this.#connectForCopies();
    return this.#copies;
  }

  sync(): Promise<Replicated> {
    return Promise.reject(new TypeError("A database server has nothing to synchronise with."));
  }

  /** Resolves when all writes in flight are answered. */
  async drain(): Promise<void> {
    await Promise.all([this.#writes.drain(), this.#transactions.drain()]);
    // A turn is given back a moment before its caller has the answer.
    await new Promise((resolve) => setImmediate(resolve));
  }

  close(): void {
    this.#copies?.close();
    this.#client.close();
  }

  reconnect(): void {
    this.#client.reconnect();
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    const giveBack = await this.#writes.take(this.#deadlineMs);
    try {
      return await this.#untilFree(work);
    } finally {
      giveBack();
    }
  }

  #untilFree<T>(work: () => Promise<T>): Promise<T> {
    return retryWhileBusy(work, this.#deadlineMs);
  }
}

/** Opens the client; nothing is sent yet. Errors: validationFailed for an address that no server can have. */
export async function openServerClient(options: ServerOptions): Promise<ServerClient> {
  const { createClient } = await import("@libsql/client/http");
  const connect = (limitMs: number, intMode: "number" | "bigint") =>
    createClient({
      // The WebSocket forms of an address reach the same server; HTTP survives a restart of it without a reconnect.
      url: options.url.replace(/^ws(s?):/, "http$1:"),
      ...(options.authToken === undefined ? {} : { authToken: options.authToken }),
      concurrency: requestsAtOnce,
      intMode,
      fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(limitMs) }),
    });
  try {
    const client = connect(requestLimitMs, "number");
    return new ServerClient(client, () => connect(copyRequestLimitMs, "bigint"), options.lockDeadlineMs);
  } catch (cause) {
    throw validationFailed("The database address is not one of a libSQL server.", { cause });
  }
}
