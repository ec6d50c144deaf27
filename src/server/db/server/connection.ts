import { LibsqlError } from "@libsql/core/api";
import { BatchCond, type Client, openHttp, openWs, type Stream } from "@libsql/hrana-client";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import { unavailable } from "../../errors.ts";
import { LruCache } from "../../values/lru-cache.ts";
import type { BoundValue } from "../bind-args.ts";
import { createRowMaker, type RowMaker } from "../row.ts";
import type { Result } from "../session.ts";

export interface ServerAddress {
  url: string;
  /** Each connection calls this, so that the token can be replaced. */
  readToken: () => string | undefined;
  /** Whether the server accepts WebSockets, known since `askedAt`; undefined before. */
  takesWebSockets?: boolean;
  askedAt?: number;
  /** When a call last timed out. A connection that was not used since then is replaced before its next call. */
  silentAt?: number;
}

export interface Step {
  sql: string;
  args?: BoundValue[];
  /** The index of the step that must have succeeded. */
  after?: number | undefined;
}

/** The result of a step; undefined if it was skipped because the one before it failed. */
export type Outcome = Result | Error | undefined;

export interface KeptStream {
  client: Client;
  stream: Stream;
}

/** A longer call has failed: a stopped server never answers on a WebSocket. */
const callTimeoutMs = 10_000;
const connectTimeoutMs = 5000;
/** After a refused WebSocket, HTTP is used for this long before the next try. */
const askAgainMs = 10 * 60_000;
/** A connection that is idle for longer may have been cut unnoticed. */
const maxIdleMs = 30_000;

/** A connection to a libSQL server with several streams. On each, one batch runs at a time. */
export class ServerConnection {
  readonly #address: ServerAddress;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #usedAt = 0;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** Returns the kept stream, or a new one if it has ended. Throws errors of the network, and for a refused token. */
  async openStream(kept: KeptStream | undefined): Promise<KeptStream> {
    const isDoubtful =
      performance.now() - this.#usedAt > maxIdleMs ||
      this.#usedAt < (this.#address.silentAt ?? Number.NEGATIVE_INFINITY);
    if (this.isOpen(kept) && !isDoubtful) return kept;
    if (this.#client?.closed || isDoubtful) this.close();
    if (this.#client === undefined) {
      this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = undefined;
      });
      this.#client = await this.#connecting;
    }
    return { client: this.#client, stream: this.#client.openStream() };
  }

  isOpen(kept: KeptStream | undefined): kept is KeptStream {
    return kept !== undefined && kept.client === this.#client && !kept.client.closed && !kept.stream.closed;
  }

  /**
   * Runs a batch in one round trip. If a step fails, its error is its outcome.
   * @param timeoutMs how long the server may take.
   * @throws an error of the network or of the whole batch, which may have been executed nevertheless.
   */
  async run({ stream }: KeptStream, steps: readonly Step[], timeoutMs: number): Promise<Outcome[]> {
    const batch = stream.batch();
    const added = steps.map(() => batch.step());
    const outcomes = steps.map(({ sql, args = [], after }, index) => {
      const step = added[index] as (typeof added)[number];
      const before = after === undefined ? undefined : added[after];
      if (before) step.condition(BatchCond.ok(before));
      return step
        .query([sql, args])
        .then((result) => result && toResult(result))
        .catch(toError);
    });
    await withTimeout(batch.execute(), timeoutMs, () => {
      this.#address.silentAt = performance.now();
      return unavailable("No answer in time.", { isInternal: true });
    });
    this.#usedAt = performance.now();
    return Promise.all(outcomes);
  }

  /** As `run`, but runs each step only if the one before it succeeded. Throws unavailable if the stream has ended. */
  async runInOrder(kept: KeptStream | undefined, stmts: readonly Step[], timeoutMs: number): Promise<Outcome[]> {
    if (!this.isOpen(kept)) throw unavailable("The connection was lost.", { isInternal: true });
    const steps = stmts.map((stmt, index) => ({ ...stmt, after: index === 0 ? undefined : index - 1 }));
    return this.run(kept, steps, timeoutMs);
  }

  /** Closes the connection. The server rolls open transactions back at once, or over HTTP after five seconds. */
  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  async #connect(): Promise<Client> {
    const { url, readToken, takesWebSockets, askedAt = 0 } = this.#address;
    const token = readToken();
    this.#usedAt = performance.now();
    if (takesWebSockets !== false || performance.now() - askedAt > askAgainMs) {
      const client = openWs(url.replace(/^http/, "ws"), token);
      try {
        await this.#use(client);
        this.#address.takesWebSockets = true;
        return client;
      } catch (error) {
        client.close();
        if (takesWebSockets) throw error;
      }
    }
    const client = openHttp(url, token, (request: Request) => {
      // Compressing an answer would cost the server a third of the work of a small batch.
      request.headers.set("accept-encoding", "identity");
      return fetch(request, { signal: AbortSignal.timeout(callTimeoutMs) });
    });
    await this.#use(client);
    Object.assign(this.#address, { takesWebSockets: false, askedAt: performance.now() });
    return client;
  }

  async #use(client: Client): Promise<void> {
    client.intMode = "bigint";
    const stream = client.openStream();
    await withTimeout(stream.query("SELECT 1"), connectTimeoutMs);
    stream.close();
  }
}

export function isResult(outcome: Outcome): outcome is Result {
  return outcome !== undefined && !(outcome instanceof Error);
}

const rowMakers = new LruCache<RowMaker>(512);

function toResult({ columnNames, rows, affectedRowCount }: StreamRows): Result {
  if (rows.length === 0) return { rows: [], rowsAffected: affectedRowCount };
  const makeRow = rowMakers.getOrMake(columnNames.join("\0"), (names) => createRowMaker(names.split("\0")));
  return { rows: rows.map((row) => makeRow(Array.from(row))), rowsAffected: affectedRowCount };
}

type StreamRows = Awaited<ReturnType<Stream["query"]>>;

/** The row maker throws for an integer that is too large for a number. */
function toError(error: Error & { code?: string }): Error {
  if (error instanceof RangeError) return error;
  return new LibsqlError(error.message, error.code ?? "UNKNOWN", undefined, undefined, error);
}
