import type { Client, InStatement } from "@libsql/core/api";
import { validationFailed } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import type { BatchMode, Database, Result, Session } from "../session.ts";
import { bindForServer, retryWhileBusy } from "./calls.ts";
import { HranaStream } from "./hrana.ts";
import { SharedReads } from "./shared-reads.ts";
import { SharedWrites } from "./shared-writes.ts";

const requestTimeoutMs = 10_000;
/** Of calls that read a whole database, or index it. */
const copyTimeoutMs = 600_000;

/**
 * A libSQL server's database over HTTP. Exchanges are what costs, so reads share them, and so do writes. Arguments are
 * bound as for a file, calls to a busy server are retried until the deadline, and network errors are unavailable.
 */
export class ServerDatabase implements Database {
  readonly kind = "server";
  readonly #connectForCopies: () => Client;
  readonly #lockDeadlineMs: number;
  readonly #reads: SharedReads;
  readonly #writes: SharedWrites;
  #copyClient: Client | undefined;

  constructor(open: () => HranaStream, connectForCopies: () => Client, lockDeadlineMs: number) {
    this.#connectForCopies = connectForCopies;
    this.#lockDeadlineMs = lockDeadlineMs;
    this.#reads = new SharedReads(open, lockDeadlineMs);
    this.#writes = new SharedWrites(open, this.#reads, lockDeadlineMs);
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt], shapeOf(sqlOf(stmt)).reads ? "read" : "write"))[0] as Result;
  }

  async batch(stmts: InStatement[], mode: BatchMode = "write"): Promise<Result[]> {
    const bound = stmts.map(bindForServer);
    if (mode !== "read") return this.#writes.run(bound);
    if (!stmts.every((stmt) => shapeOf(sqlOf(stmt)).reads)) {
      throw new TypeError("A read batch takes only statements that read.");
    }
    return this.#reads.run(bound);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return this.#writes.transaction(fn);
  }

  async migrate(stmts: InStatement[]): Promise<void> {
    const bound = stmts.map(bindForServer);
    await retryWhileBusy(() => this.copyClient().migrate(bound), this.#lockDeadlineMs);
  }

  /**
   * The bare client for copies of the whole database: integers are bigint, calls may take minutes, transactions have no
   * time limit of ours, and errors are not mapped. It is closed with the database.
   */
  copyClient(): Client {
    this.#copyClient ??= this.#connectForCopies();
    return this.#copyClient;
  }

  /** Whether a write is on the server's disk when it is acknowledged. Errors: unavailable. */
  isDurable(): Promise<boolean> {
    return this.#writes.isDurable();
  }

  // A server looks after its files itself.
  readonly dataVersion = () => null;
  readonly checkpoint = async () => false;
  readonly checkWrites = async () => {};
  readonly walBytes = () => 0;
  readonly isInPlace = () => true;
  readonly setWalAside = () => undefined;

  async drain(): Promise<void> {
    await this.#writes.drain();
    // A write is answered a moment after it has ended.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    await this.drain();
    await Promise.all([this.#reads.close(), this.#writes.close()]);
    this.#copyClient?.close();
  }
}

/** Opens a server's database; nothing is sent before the first call. Errors: validationFailed for an unusable address. */
export async function openServer(address: string, authToken: string | undefined, lockDeadlineMs: number) {
  const { createClient } = await import("@libsql/client/http");
  // Other forms of the address reach the same server over HTTP, which survives its restart without a reconnect.
  const url = address.replace(/^(?:ws(s?)|libsql(?=:)):/, (scheme, s) =>
    scheme === "libsql:" ? "https:" : `http${s}:`,
  );
  const connectForCopies = () =>
    createClient({
      url,
      ...(authToken === undefined ? {} : { authToken }),
      intMode: "bigint",
      fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(copyTimeoutMs) }),
    });
  try {
    connectForCopies().close();
    const open = () => new HranaStream(url, authToken, requestTimeoutMs);
    return new ServerDatabase(open, connectForCopies, lockDeadlineMs);
  } catch (cause) {
    throw validationFailed("The database address is not the address of a libSQL server.", { cause });
  }
}
