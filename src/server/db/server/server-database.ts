import { createClient } from "@libsql/client/http";
import type { Client, InStatement } from "@libsql/core/api";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import { unavailable, validationFailed } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { retryWhileBusy } from "../db-errors.ts";
import { WriteQueue, type WriteQueueOptions } from "../group-commit/write-queue.ts";
import { shapeOf } from "../scan-sql.ts";
import type { BatchMode, Database, Result, Session } from "../session.ts";
import { bindForServer, type ServerAddress, ServerConnection } from "./connection.ts";
import { ServerWriter } from "./server-writer.ts";
import { SharedReads } from "./shared-reads.ts";

/** Groups are short: other processes wait for the lock, and the server ends a transaction after five seconds. */
const limits = { groupMs: 20, writeTimeoutMs: 1000 };
/** A check connects again if the server has answered no write for this long. It waits equally long for the answer. */
const checkMs = 5000;
/** The time limit of a write that shows whether writes work. Readiness probes wait for three seconds in all. */
const probeMs = 2000;

type ServerOptions = Pick<ServerAddress, "readToken"> & Pick<WriteQueueOptions, "lockDeadlineMs" | "beforeCommit">;

/** A database on a libSQL server. Round trips are slow, so reads share them, and writes share a commit. */
export class ServerDatabase implements Database {
  readonly kind = "server";
  readonly queue: WriteQueue;
  readonly #url: string;
  readonly #options: ServerOptions;
  readonly #reads: SharedReads;
  readonly #writes: ServerConnection;

  /** Sends nothing before the first call. Throws validationFailed for an unusable address. */
  constructor(given: string, options: ServerOptions) {
    this.#url = given.replace(/^(?:ws(s?)|libsql(?=:)):/, (all, s) => (all === "libsql:" ? "https:" : `http${s}:`));
    this.#options = options;
    try {
      this.copyClient().close();
    } catch (cause) {
      throw validationFailed("The database address is not the address of a libSQL server.", { cause });
    }
    const address = { url: this.#url, readToken: options.readToken };
    this.#reads = new SharedReads(address);
    this.#writes = new ServerConnection(address);
    this.queue = new WriteQueue(new ServerWriter(this.#writes), { ...options, ...limits });
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt], shapeOf(sqlOf(stmt)).reads ? "read" : "write"))[0] as Result;
  }

  async batch(stmts: InStatement[], mode: BatchMode = "write"): Promise<Result[]> {
    if (mode === "write") return this.queue.run(stmts);
    // sqld would execute writes even in a read-only transaction, so a batch with writes is refused here.
    if (stmts.every((stmt) => shapeOf(sqlOf(stmt)).reads)) return this.#reads.run(stmts.map(bindForServer));
    throw new TypeError("A read batch takes only statements that read.");
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return this.queue.transaction(fn);
  }

  async migrate(stmts: InStatement[]): Promise<void> {
    const bound = stmts.map(bindForServer);
    await retryWhileBusy(() => this.copyClient().migrate(bound), this.#options.lockDeadlineMs);
  }

  copyClient(): Client {
    const authToken = this.#options.readToken();
    return createClient({
      url: this.#url,
      ...(authToken !== undefined && { authToken }),
      intMode: "bigint",
    });
  }

  async checkWrites(): Promise<void> {
    const { isDurable, usedAt } = this.#writes;
    if (!isDurable || performance.now() - usedAt >= checkMs) {
      // A new connection shows whether the server answers, and reads the server's durability mode again.
      await this.queue.exclusive(() => {
        this.#writes.close();
        return this.#writes.open(performance.now() + checkMs);
      });
    }
    const { lostSince = Number.POSITIVE_INFINITY } = this.queue;
    if (performance.now() - lostSince < 2 * this.#options.lockDeadlineMs) return;
    // sqld can deadlock, see ../group-commit/README.md. A unit without statements still writes to `write_groups`.
    await withTimeout(this.queue.run([]), probeMs).catch((cause) => {
      throw unavailable("The database server answers, but commits no writes.", { cause, isInternal: true });
    });
    this.queue.lostSince = undefined;
  }

  get warning(): string | undefined {
    if (this.#writes.isDurable) return undefined;
    return "The libSQL server acknowledges writes before they are on its disk, so a crash of its machine can lose orders.";
  }

  readonly dataVersion = () => null;

  async close(): Promise<void> {
    await this.queue.drain();
    this.#reads.close();
    this.#writes.close();
  }
}
