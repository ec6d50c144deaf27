import { withTimeout } from "../../concurrency/with-timeout.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { isOwnFailure, mapServerError } from "../db-errors.ts";
import type { Result } from "../session.ts";
import type { KeptStream, Outcome, ServerConnection, Step } from "./connection.ts";
import type { Bound } from "./statements.ts";

interface Read {
  stmts: Bound[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
  arrivedAt: number;
}

/** The maximum of concurrent round trips. More would only wait at the server. */
const maxTrips = 4;
const maxStatements = 64;
/** Time limit of a read with its retry over a second connection. `tripTimeoutMs` is that of the first try. */
const readTimeoutMs = 10_000;
const tripTimeoutMs = 7000;
/** The least time limit of a read, even if it has waited behind others for long. */
const minTimeoutMs = 500;
const noAnswer = () => unavailable("The database server does not answer.", { isInternal: true });
const gatherMs = 3;
/** After a round trip longer than this plus 1 ms per statement, each of its statements is sent alone. */
const slowMs = 15;

/**
 * Reads from a libSQL server over kept streams. Reads of one turn of the event loop share a round trip, which costs the
 * server as much as ten statements. During a round trip, further reads are collected until it ends, or for a few
 * milliseconds.
 */
export class SharedReads {
  readonly #connection: ServerConnection;
  readonly #idle: KeptStream[] = [];
  readonly #slow = new LruCache<boolean>(256);
  #waiting: Read[] = [];
  #underWay = 0;
  #isScheduled = false;
  #gathering: Timer | undefined;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
  }

  /** The results of statements that read, from one snapshot. Errors: of the first that fails; unavailable. */
  run(stmts: Read["stmts"]): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stmts, resolve, reject, arrivedAt: performance.now() });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#waiting.length === 0) return;
    if (this.#underWay > 0) this.#gathering ??= setTimeout(() => this.#begin(), gatherMs);
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#begin());
    }
  }

  #begin(): void {
    this.#isScheduled = false;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    while (this.#waiting.length > 0 && this.#underWay < maxTrips) void this.#answer(this.#take());
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

  async #answer(reads: Read[]): Promise<void> {
    this.#underWay++;
    // After a lost connection, a read is repeated once; this is harmless.
    const tried = this.#trip(reads).catch((error) => (isOfBatch(error) ? Promise.reject(error) : this.#trip(reads)));
    // The read may have waited behind reads without an answer.
    const waitedMs = performance.now() - (reads[0] as Read).arrivedAt;
    await withTimeout(tried, Math.max(minTimeoutMs, readTimeoutMs - waitedMs), noAnswer).catch(async (error) => {
      if (!isOfBatch(error) || reads.length === 1) for (const { reject } of reads) reject(mapServerError(error));
      else for (const read of reads) await this.#trip([read]).catch((own) => read.reject(mapServerError(own)));
    });
    this.#underWay--;
    if (this.#underWay === 0) this.#begin();
    else this.#schedule();
  }

  async #trip(reads: Read[]): Promise<void> {
    const { stmts, positions } = mergeEqual(reads);
    const isSnapshot = reads.some((read) => read.stmts.length > 1);
    const begunAt = performance.now();
    const outcomes = await this.#run(isSnapshot ? inSnapshot(stmts) : stmts);
    const isSlow = performance.now() - begunAt > slowMs + stmts.length;
    for (const { sql } of stmts) if (isSlow !== (this.#slow.get(sql) ?? false)) this.#slow.set(sql, isSlow);
    const first = isSnapshot ? 1 : 0;
    for (const [index, { resolve, reject }] of reads.entries()) {
      const own = (positions[index] as number[]).map((at) => outcomes[first + at]);
      const failed = own.find((outcome) => outcome === undefined || outcome instanceof Error);
      if (own.includes(failed)) reject(mapServerError(failed ?? outcomes[0]));
      else resolve(own as Result[]);
    }
  }

  async #run(steps: Step[]): Promise<Outcome[]> {
    const connection = this.#connection;
    const stream = await connection.openStream(this.#idle.pop());
    try {
      return await connection.run(stream, steps, tripTimeoutMs);
    } catch (error) {
      if (!isOfBatch(error) && connection.isOpen(stream)) connection.close();
      throw error;
    } finally {
      if (connection.isOpen(stream)) this.#idle.push(stream);
    }
  }
}

/** Merges equal statements, since clients often read the same, and records where the statements of each read are. */
function mergeEqual(reads: Read[]) {
  const stmts: Read["stmts"] = [];
  const known = new Map<string, number>();
  const place = (stmt: Read["stmts"][number]) => {
    const key = [stmt.sql, ...stmt.args].join("\0");
    const at = known.get(key) ?? -1;
    // The key does not distinguish a number from its text.
    if (stmts[at]?.args.every((arg, index) => arg === stmt.args[index])) return at;
    known.set(key, stmts.length);
    return stmts.push(stmt) - 1;
  };
  return { positions: reads.map((read) => read.stmts.map(place)), stmts };
}

/** Whether the server refused a batch for its content: an invalid statement, or too large an answer. */
function isOfBatch(error: unknown): boolean {
  return isOwnFailure(error) || (error as { code?: string }).code === "RESPONSE_TOO_LARGE";
}

function inSnapshot(stmts: Step[]): Step[] {
  const own = stmts.map((stmt) => ({ ...stmt, after: 0 }));
  return [{ sql: "BEGIN TRANSACTION READONLY" }, ...own, { sql: "COMMIT", after: 0 }];
}
