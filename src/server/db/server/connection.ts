import type { InStatement } from "@libsql/core/api";
import { BatchCond, type BatchStep, type Client, openHttp, openWs, type Stream } from "@libsql/hrana-client";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { argsOf, type BoundValue, bindArgs, sqlOf } from "../bind-args.ts";
import { isOwnFailure, mapServerError } from "../db-errors.ts";
import { createRowMaker, type RowMaker } from "../row.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Result } from "../session.ts";

export interface ServerAddress {
  url: string;
  /** Each connection calls this, so that the token can be replaced. */
  readToken: () => string | undefined;
  /** Whether the server accepts WebSockets, known since `askedAt`; undefined before. */
  takesWebSockets?: boolean;
  askedAt?: number;
  /** When a call last failed. A connection that was not used since then is replaced before its next call. */
  failedAt?: number;
}

export interface Bound {
  sql: string;
  args: BoundValue[];
}

export const control = (sql: string): Bound => ({ sql, args: [] });

/** Binds a statement's arguments as both engines store them. Errors: as `bindArgs`. */
export function bindForServer(stmt: InStatement): Bound {
  const sql = sqlOf(stmt);
  return { sql, args: bindArgs(shapeOf(sql).params, argsOf(stmt)) };
}

/** The result of a statement; undefined if it was skipped because the one before it failed. */
export type Outcome = Result | Error | undefined;

/** When an HTTP request is aborted that nobody waits for any more. */
const abortMs = 10_000;
/** After a refused WebSocket, HTTP is used for this long before the next try. */
const askAgainMs = 10 * 60_000;
/** Over HTTP, sqld ends a stream that is idle for ten seconds. A WebSocket may have been cut unnoticed. */
const maxIdleMs = 8000;
const noAnswer = () => unavailable("The database server does not answer.", { isInternal: true });

/** A connection to a libSQL server. One batch runs at a time. All errors are mapped as by `mapServerError`. */
export class ServerConnection {
  readonly #address: ServerAddress;
  #stream: Stream | undefined;
  /** When the server last answered. */
  usedAt = Number.NEGATIVE_INFINITY;
  /** Whether the server writes to its disk before it answers (FULL, 2). A connection keeps the mode it began with. */
  isDurable = true;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** Connects again, unless the connection has been used lately. Throws unavailable, also for a refused token. */
  async open(deadline: number): Promise<void> {
    const isUsed = this.usedAt > Math.max(performance.now() - maxIdleMs, this.#address.failedAt ?? 0);
    if (isUsed && this.#stream?.closed === false && !this.#stream.client().closed) return;
    this.close();
    this.#stream = await this.#connect(deadline).catch((error) => Promise.reject(mapServerError(error)));
    this.usedAt = performance.now();
  }

  /**
   * Runs a batch in one round trip; the error of a statement is its outcome.
   * @param isOrdered whether each statement runs only if the one before it succeeded.
   * @throws an error of the network, which closes the connection, or of the whole batch. It may have been executed.
   */
  async run(stmts: readonly Bound[], deadline: number, isOrdered: boolean): Promise<Outcome[]> {
    const batch = this.#stream?.batch();
    if (batch === undefined) throw unavailable("The connection was lost.", { isInternal: true });
    let before: BatchStep | undefined;
    const outcomes = stmts.map(({ sql, args }) => {
      const step = batch.step();
      if (isOrdered && before) step.condition(BatchCond.ok(before));
      before = step;
      return step
        .query([sql, args])
        .then((result) => result && toResult(result))
        .catch((error) => mapServerError(error) as Error);
    });
    try {
      await withTimeout(batch.execute(), Math.max(1, deadline - performance.now()), noAnswer);
    } catch (error) {
      if (!isOwnFailure(error)) {
        this.#address.failedAt = performance.now();
        this.close();
      }
      throw mapServerError(error);
    }
    this.usedAt = performance.now();
    return Promise.all(outcomes);
  }

  /** Closes the connection, so that the server rolls an open transaction back. */
  close(): void {
    this.#stream?.client().close();
    this.#stream = undefined;
  }

  async #connect(deadline: number): Promise<Stream> {
    const { url, readToken, takesWebSockets, askedAt = 0 } = this.#address;
    const token = readToken();
    if (takesWebSockets !== false || performance.now() - askedAt > askAgainMs) {
      this.#address.askedAt = performance.now();
      try {
        const stream = await this.#begin(openWs(url.replace(/^http/, "ws"), token), deadline);
        this.#address.takesWebSockets = true;
        return stream;
      } catch (error) {
        if (takesWebSockets) throw error;
      }
    }
    const client = openHttp(url, token, (request: Request) => {
      // Compressing an answer would cost the server a third of the work of a small batch.
      request.headers.set("accept-encoding", "identity");
      return fetch(request, { signal: AbortSignal.timeout(abortMs) });
    });
    const stream = await this.#begin(client, deadline);
    this.#address.takesWebSockets = false;
    return stream;
  }

  async #begin(client: Client, deadline: number): Promise<Stream> {
    client.intMode = "bigint";
    const stream = client.openStream();
    try {
      // Half of the time is left for HTTP, if a WebSocket is not answered.
      const leftMs = Math.max(1, (deadline - performance.now()) / 2);
      const { value } = await withTimeout(stream.queryValue("PRAGMA synchronous"), leftMs, noAnswer);
      this.isDurable = value === 2n;
      return stream;
    } catch (error) {
      client.close();
      throw error;
    }
  }
}

export function isResult(outcome: Outcome): outcome is Result {
  return outcome !== undefined && !(outcome instanceof Error);
}

const rowMakers = new LruCache<RowMaker>(512);

function toResult({ columnNames, rows, affectedRowCount }: Awaited<ReturnType<Stream["query"]>>): Result {
  const makeRow = rowMakers.getOrMake(columnNames.join("\0"), (names) => createRowMaker(names.split("\0")));
  return { rows: rows.map((row) => makeRow(Array.from(row))), rowsAffected: affectedRowCount };
}
