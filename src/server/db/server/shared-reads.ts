import { LruCache } from "../../values/lru-cache.ts";
import { isOwnFailure } from "../db-errors.ts";
import type { Result } from "../session.ts";
import { type Bound, control, isResult, type ServerAddress, ServerConnection } from "./connection.ts";

interface Read extends PromiseWithResolvers<Result[]> {
  stmts: Bound[];
  /** Equal statements have equal keys. */
  keys: string[];
  deadline: number;
}

/** The maximum of concurrent round trips. More would only wait at the server. */
const maxTrips = 4;
const maxStatements = 64;
/** Time limit of a read. Half of it is left to try again over a new connection. */
const readTimeoutMs = 10_000;
/** The least time limit of a read, even if it has waited behind others for long. */
const minTimeoutMs = 500;
const gatherMs = 3;
/** After a round trip longer than this plus 1 ms per statement, each of its statements is sent alone. */
const slowMs = 15;

const begin = control("BEGIN TRANSACTION READONLY");
const commit = control("COMMIT");

/**
 * Reads from a libSQL server. Reads of one turn of the event loop share a round trip, which costs the server as much as
 * ten statements. During a round trip, further reads are collected until it ends, or for a few milliseconds.
 */
export class SharedReads {
  readonly #connections: ServerConnection[];
  readonly #idle: ServerConnection[];
  readonly #slow = new LruCache<boolean>(256);
  #waiting: Read[] = [];
  #isScheduled = false;

  constructor(address: ServerAddress) {
    this.#connections = Array.from({ length: maxTrips }, () => new ServerConnection(address));
    this.#idle = [...this.#connections];
  }

  /** The results of statements that read, from one snapshot. Errors: of the first that fails; unavailable. */
  run(stmts: Bound[]): Promise<Result[]> {
    const answer = Promise.withResolvers<Result[]>();
    const deadline = performance.now() + readTimeoutMs;
    this.#waiting.push({ stmts, keys: stmts.map(keyOf), deadline, ...answer });
    this.#schedule();
    return answer.promise;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    if (this.#idle.length === maxTrips) setImmediate(() => this.#begin());
    else setTimeout(() => this.#begin(), gatherMs);
  }

  #begin(): void {
    this.#isScheduled = false;
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const connection = this.#idle.pop() as ServerConnection;
      void this.#answer(this.#take(), connection).then(() => {
        this.#idle.push(connection);
        if (this.#idle.length === maxTrips) this.#begin();
        else this.#schedule();
      });
    }
  }

  /** Takes the reads of the next round trip: a slow read alone, otherwise as many as fit. */
  #take(): Read[] {
    const isSlow = ({ stmts }: Read) => stmts.some(({ sql }) => this.#slow.get(sql));
    let count = 0;
    const next = this.#waiting.findIndex((read, index) => {
      count += read.stmts.length;
      return index > 0 && (count > maxStatements || isSlow(read) || isSlow(this.#waiting[0] as Read));
    });
    return this.#waiting.splice(0, next === -1 ? this.#waiting.length : next);
  }

  async #answer(reads: Read[], connection: ServerConnection): Promise<void> {
    const now = performance.now();
    const deadline = Math.max((reads[0] as Read).deadline, now + minTimeoutMs);
    try {
      await this.#send(reads, connection, (now + deadline) / 2).catch((error) => {
        return isOfBatch(error) ? Promise.reject(error) : this.#send(reads, connection, deadline);
      });
    } catch (error) {
      if (!isOfBatch(error) || reads.length === 1) for (const { reject } of reads) reject(error);
      else for (const read of reads) await this.#answer([read], connection);
    }
  }

  /** Sends equal statements once, since clients often read the same. */
  async #send(reads: Read[], connection: ServerConnection, deadline: number): Promise<void> {
    const stmts = new Map(reads.flatMap(({ stmts, keys }) => stmts.map((stmt, at) => [keys[at], stmt])));
    await connection.open(deadline);
    const begunAt = performance.now();
    const outcomes = await connection.run([begin, ...stmts.values(), commit], deadline, false);
    const isSlow = performance.now() - begunAt > slowMs + stmts.size;
    for (const { sql } of stmts.values()) this.#slow.set(sql, isSlow);
    const failed = [outcomes[0], outcomes.at(-1)].find((outcome) => !isResult(outcome));
    if (failed !== undefined) {
      connection.close();
      // An error that ends the transaction also fails its COMMIT, whose own error says nothing.
      throw outcomes.find((outcome) => outcome instanceof Error && !isOwnFailure(outcome)) ?? failed;
    }
    const byKey = new Map([...stmts.keys()].map((key, at) => [key, outcomes[at + 1]]));
    for (const { keys, resolve, reject } of reads) {
      const own = keys.map((key) => byKey.get(key));
      if (own.every(isResult)) resolve(own);
      else reject(own.find((outcome) => !isResult(outcome)));
    }
  }
}

/** Texts have no NUL, so different statements have different keys. */
function keyOf({ sql, args }: Bound): string {
  return [sql, ...args.map((arg) => `${typeof arg} ${arg}`)].join("\0");
}

/** Whether the server refused a batch for its content: an invalid statement, or too large an answer. */
function isOfBatch(error: unknown): boolean {
  return isOwnFailure(error) || (error as { code?: string }).code === "RESPONSE_TOO_LARGE";
}
