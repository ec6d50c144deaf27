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
  /** Whether the server accepts WebSockets; undefined before the first connection. */
  takesWebSockets?: boolean;
  /** When a call last failed. A connection that was not used since then is replaced before its next call. */
  failedAt?: number;
}

export interface Bound {
  sql: string;
  args: BoundValue[];
}

/** Converts the arguments of a statement to the values that a libSQL server stores. Errors: as `bindArgs`. */
export function bindForServer(stmt: InStatement): Bound {
  const sql = sqlOf(stmt);
  return { sql, args: bindArgs(shapeOf(sql).params, argsOf(stmt)) };
}

/** The result of a statement; undefined if it was skipped because the one before it failed. */
export type Outcome = Result | Error | undefined;

/** A call waits at least this many milliseconds for its answer, even if its deadline is nearer. */
const minMs = 500;
/** A connection idle for longer is renewed: sqld ends HTTP streams after ten seconds, and a WebSocket may be cut. */
const maxIdleMs = 8000;
const readClock = "SELECT julianday('now') * 86400000";
const msUntil = (deadline: number) => Math.max(minMs, deadline - performance.now());

/** A connection to a libSQL server. One batch runs at a time. All errors are mapped as by `mapServerError`. */
export class ServerConnection {
  readonly #address: ServerAddress;
  #stream: Stream | undefined;
  /** Aborts HTTP requests that are not answered in time, because a server that hangs may execute them later. */
  #abandoned = new AbortController();
  /** When the server last answered. */
  usedAt = Number.NEGATIVE_INFINITY;
  /** Whether the server writes to disk before it answers (`synchronous` is 2). Read once for each connection. */
  isDurable = true;
  /** The server's clock minus `performance.now()`, in milliseconds. Read once for each connection. */
  #clockOffset = 0;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** Connects again, unless the connection has been used lately. Throws unavailable, also for a refused token. */
  async open(deadline: number): Promise<void> {
    const { failedAt = 0, takesWebSockets } = this.#address;
    const isUsed = this.usedAt > Math.max(performance.now() - maxIdleMs, failedAt);
    if (isUsed && this.#stream?.closed === false && !this.#stream.client().closed) return;
    this.close();
    // If it is unknown whether the server accepts WebSockets, half of the time is reserved for HTTP.
    for (let left = takesWebSockets === undefined ? 2 : 1; left > 0; left--) {
      const isSocket = takesWebSockets ?? left === 2;
      const client = this.#openClient(isSocket);
      client.intMode = "bigint";
      try {
        const stream = client.openStream();
        const answers = Promise.all([stream.queryValue("PRAGMA synchronous"), stream.queryValue(readClock)]);
        const [mode, now] = await this.#waitFor(answers, msUntil(deadline) / left);
        this.isDurable = mode.value === 2n;
        this.#clockOffset = Number(now.value) - performance.now();
        this.#address.takesWebSockets = isSocket;
        this.#stream = stream;
        return;
      } catch (error) {
        client.close();
        if (left === 1) throw mapServerError(error);
      }
    }
  }

  /**
   * Runs a batch in one round trip. Each statement runs only if the one before it succeeded. The error of a statement is
   * its outcome.
   * @throws an error of the network, which closes the connection, or of the whole batch. The batch may have run.
   */
  async run(stmts: readonly Bound[], deadline: number): Promise<Outcome[]> {
    const batch = this.#stream?.batch();
    if (batch === undefined) throw unavailable("The connection was lost.", { isInternal: true });
    let before: BatchStep | undefined;
    const outcomes = stmts.map(({ sql, args }) => {
      const step = batch.step();
      if (before) step.condition(BatchCond.ok(before));
      before = step;
      return step
        .query([sql, args])
        .then((result) => result && toResult(result))
        .catch((error) => mapServerError(error) as Error);
    });
    try {
      await this.#waitFor(batch.execute(), msUntil(deadline));
    } catch (error) {
      if (!isOwnFailure(error)) {
        this.#address.failedAt = performance.now();
        this.close();
      }
      throw mapServerError(error);
    }
    return Promise.all(outcomes);
  }

  /** Returns the time in milliseconds, by the server's clock, after which `run` does not wait for the answer. */
  endOf(deadline: number): number {
    return performance.now() + msUntil(deadline) + this.#clockOffset;
  }

  /** Closes the connection, so that the server rolls an open transaction back. */
  close(): void {
    this.#stream?.client().close();
    this.#stream = undefined;
  }

  #openClient(isSocket: boolean): Client {
    const { url, readToken } = this.#address;
    const token = readToken();
    if (isSocket) return openWs(url.replace(/^http/, "ws"), token);
    this.#abandoned = new AbortController();
    const { signal } = this.#abandoned;
    return openHttp(url, token, (request: Request) => {
      // Compressing the answer would be a third of the server's work for a small batch, so it is turned off.
      request.headers.set("accept-encoding", "identity");
      return fetch(request, { signal });
    });
  }

  async #waitFor<T>(answer: Promise<T>, ms: number): Promise<T> {
    const value = await withTimeout(answer, ms, () => {
      this.#abandoned.abort();
      return unavailable("The database server does not answer.", { isInternal: true });
    });
    this.usedAt = performance.now();
    return value;
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
