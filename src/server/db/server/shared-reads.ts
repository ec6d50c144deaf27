import { AppError } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import type { Result } from "../session.ts";
import { type Bound, bindForServer, isResult, type ServerAddress, ServerConnection } from "./connection.ts";

interface Read extends PromiseWithResolvers<Result[]> {
  /** Statements with their keys. Equal statements have equal keys. */
  stmts: [string, Bound][];
  deadline: number;
}

/** The maximum of concurrent round trips. More would only wait at the server. */
const maxTrips = 4;
const maxReads = 32;
/** The time limit of a read. The first attempt gets half of it, so that a second one can use a new connection. */
const readTimeoutMs = 10_000;
const gatherMs = 3;
/** After a round trip longer than this plus 1 ms per statement, each of its statements is later sent alone. */
const slowMs = 15;

const begin = bindForServer("BEGIN TRANSACTION READONLY");
const commit = bindForServer("COMMIT");

/**
 * Reads from a libSQL server. Reads of one turn of the event loop share a round trip, because a round trip costs the
 * server as much as ten statements. Reads that arrive during a round trip wait until it ends, or for `gatherMs`.
 */
export class SharedReads {
  readonly #connections: ServerConnection[];
  readonly #idle: ServerConnection[];
  readonly #slow = new LruCache<boolean>(256);
  #waiting: Read[] = [];

  constructor(address: ServerAddress) {
    this.#connections = Array.from({ length: maxTrips }, () => new ServerConnection(address));
    this.#idle = [...this.#connections];
  }

  /** Runs reading statements on one snapshot. Throws unavailable, or the error of the first statement that fails. */
  run(stmts: Bound[]): Promise<Result[]> {
    const answer = Promise.withResolvers<Result[]>();
    const deadline = performance.now() + readTimeoutMs;
    this.#waiting.push({ stmts: stmts.map((stmt) => [keyOf(stmt), stmt]), deadline, ...answer });
    if (this.#waiting.length === 1) this.#schedule();
    return answer.promise;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #schedule(): void {
    if (this.#idle.length === maxTrips) setImmediate(() => this.#begin());
    else setTimeout(() => this.#begin(), gatherMs);
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const connection = this.#idle.pop() as ServerConnection;
      void this.#answer(this.#take(), connection).then(() => {
        this.#idle.push(connection);
        if (this.#idle.length === maxTrips) this.#begin();
        else this.#schedule();
      });
    }
  }

  /** Takes the reads of the next round trip: one slow read, or up to `maxReads` other ones. */
  #take(): Read[] {
    const isSlow = ({ stmts }: Read) => stmts.some(([, { sql }]) => this.#slow.get(sql));
    const next = this.#waiting.findIndex((read, at) => at > 0 && (isSlow(read) || isSlow(this.#waiting[0] as Read)));
    return this.#waiting.splice(0, next === -1 ? maxReads : Math.min(next, maxReads));
  }

  async #answer(reads: Read[], connection: ServerConnection): Promise<void> {
    const { deadline } = reads[0] as Read;
    try {
      await this.#send(reads, connection, (performance.now() + deadline) / 2).catch((error) => {
        // Errors of the connection are `AppError`. Other errors come from statements: a second attempt would not help.
        if (!(error instanceof AppError)) throw error;
        return this.#send(reads, connection, deadline);
      });
    } catch (error) {
      if (error instanceof AppError || reads.length === 1) for (const { reject } of reads) reject(error);
      else for (const read of reads) await this.#answer([read], connection);
    }
  }

  /** Sends equal statements once, since clients often read the same. */
  async #send(reads: Read[], connection: ServerConnection, deadline: number): Promise<void> {
    const stmts = new Map(reads.flatMap((read) => read.stmts));
    await connection.open(deadline);
    const begunAt = performance.now();
    const outcomes = await connection.run([begin, ...stmts.values(), commit], deadline);
    const isSlow = performance.now() - begunAt > slowMs + stmts.size;
    for (const { sql } of stmts.values()) this.#slow.set(sql, isSlow);
    const failed = outcomes.find((outcome) => !isResult(outcome));
    if (failed !== undefined) {
      connection.close();
      throw failed;
    }
    const results = new Map([...stmts.keys()].map((key, at) => [key, outcomes[at + 1] as Result]));
    for (const { resolve, stmts } of reads) resolve(stmts.map(([key]) => results.get(key) as Result));
  }
}

/** Texts have no NUL, so different statements have different keys. */
function keyOf({ sql, args }: Bound): string {
  return [sql, ...args.map((arg) => `${typeof arg} ${arg}`)].join("\0");
}
