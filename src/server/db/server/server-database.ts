import type { Client, InStatement } from "@libsql/core/api";
import { validationFailed } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { retryWhileBusy } from "../db-errors.ts";
import type { GroupOptions } from "../group-commit/group.ts";
import { WriteQueue } from "../group-commit/write-queue.ts";
import { assertOrdinary, shapeOf } from "../scan-sql.ts";
import type { BatchMode, Database, Result, Session } from "../session.ts";
import { type ServerAddress, ServerConnection } from "./connection.ts";
import { ServerWriter } from "./server-writer.ts";
import { SharedReads } from "./shared-reads.ts";
import { bindForServer } from "./statements.ts";

const copyTimeoutMs = 600_000;
/** A server ends a transaction after five seconds, and other copies wait for the lock. */
const limits = { groupMs: 20, writeTimeoutMs: 1000 };

/** After this time without a write, the server is asked again. */
const durabilityMs = 5000;

export const notDurable =
  "The libSQL server acknowledges writes before they are on its disk, so a crash of its machine can lose orders.";

interface ServerOptions extends Pick<ServerAddress, "readToken"> {
  lockDeadlineMs: number;
  beforeCommit?: GroupOptions["beforeCommit"];
}

/**
 * A database on a libSQL server, over a WebSocket if the server accepts it, else over HTTP. Round trips are slow, so
 * reads share them, and writes share a commit.
 */
export class ServerDatabase implements Database {
  readonly kind = "server";
  readonly queue: WriteQueue;
  readonly #connectForCopies: () => Client;
  readonly #lockDeadlineMs: number;
  readonly #connections: ServerConnection[];
  readonly #reads: SharedReads;
  readonly #writer: ServerWriter;
  #copyClient: Client | undefined;

  constructor(address: ServerAddress, connectForCopies: () => Client, options: Omit<ServerOptions, "readToken">) {
    const { lockDeadlineMs, beforeCommit } = options;
    this.#connectForCopies = connectForCopies;
    this.#lockDeadlineMs = lockDeadlineMs;
    const [forReads, forWrites] = [new ServerConnection(address), new ServerConnection(address)];
    this.#connections = [forReads, forWrites];
    this.#reads = new SharedReads(forReads);
    this.#writer = new ServerWriter(forWrites, lockDeadlineMs);
    this.queue = new WriteQueue(this.#writer, { ...limits, lockMs: lockDeadlineMs, lockDeadlineMs, beforeCommit });
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt], shapeOf(sqlOf(stmt)).reads ? "read" : "write"))[0] as Result;
  }

  async batch(stmts: InStatement[], mode: BatchMode = "write"): Promise<Result[]> {
    if (stmts.length === 0) return [];
    if (mode === "read") {
      if (stmts.every((stmt) => shapeOf(sqlOf(stmt)).reads)) return this.#reads.run(stmts.map(bindForServer));
      throw new TypeError("A read batch takes only statements that read.");
    }
    for (const stmt of stmts) assertOrdinary(sqlOf(stmt));
    return this.queue.run(stmts);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return this.queue.transaction(fn);
  }

  async migrate(stmts: InStatement[]): Promise<void> {
    const bound = stmts.map(bindForServer);
    await retryWhileBusy(() => this.copyClient().migrate(bound), this.#lockDeadlineMs);
  }

  /**
   * The plain client, for copies of the whole database: integers are bigint, calls may take minutes, transactions have
   * no time limit, and errors are not mapped. It is closed with the database.
   */
  copyClient(): Client {
    this.#copyClient ??= this.#connectForCopies();
    return this.#copyClient;
  }

  /** Whether a write is on the server's disk when it is acknowledged. Errors: unavailable. */
  async isDurable(): Promise<boolean> {
    await this.checkWrites();
    return this.#writer.isDurable;
  }

  async checkWrites(): Promise<void> {
    const since = performance.now() - durabilityMs;
    if (this.#writer.isDurableSince(since)) return;
    // Writes wait behind the question, so callers that come together ask once.
    const askedAt = performance.now();
    await this.queue.exclusive(() => this.#writer.readDurability(askedAt));
  }

  get warning(): string | undefined {
    return this.#writer.isDurable ? undefined : notDurable;
  }

  // A libSQL server manages its own files.
  readonly dataVersion = () => null;
  readonly checkpoint = async () => false;
  readonly walBytes = () => 0;
  readonly isInPlace = () => true;
  readonly quarantineWal = () => undefined;

  drain(): Promise<void> {
    return this.queue.drain();
  }

  async close(): Promise<void> {
    await this.drain();
    for (const connection of this.#connections) connection.close();
    this.#copyClient?.close();
  }
}

/** Opens a server's database; nothing is sent before the first call. Errors: validationFailed for an unusable address. */
export async function openServer(given: string, { readToken, ...options }: ServerOptions): Promise<ServerDatabase> {
  const { createClient } = await import("@libsql/client/http");
  const url = given.replace(/^(?:ws(s?)|libsql(?=:)):/, (scheme, s) => (scheme === "libsql:" ? "https:" : `http${s}:`));
  const connectForCopies = () => {
    const authToken = readToken();
    return createClient({
      url,
      ...(authToken !== undefined && { authToken }),
      intMode: "bigint",
      fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(copyTimeoutMs) }),
    });
  };
  try {
    connectForCopies().close();
  } catch (cause) {
    throw validationFailed("The database address is not the address of a libSQL server.", { cause });
  }
  return new ServerDatabase({ url, readToken }, connectForCopies, options);
}
