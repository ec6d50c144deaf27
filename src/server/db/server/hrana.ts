import { LibsqlError } from "@libsql/core/api";
import { LruCache } from "../../values/lru-cache.ts";
import type { BoundValue } from "../bind-args.ts";
import { createRowMaker, type RowMaker } from "../row.ts";
import type { Result } from "../session.ts";

/** When a step of a batch runs; steps are named by their positions. */
export type Condition =
  | { type: "ok" | "error"; step: number }
  | { type: "not"; cond: Condition }
  | { type: "and"; conds: Condition[] }
  | { type: "is_autocommit" };

/** One statement of a batch. */
export interface Step {
  sql: string;
  args?: readonly BoundValue[] | undefined;
  condition?: Condition | undefined;
}

/** The outcome of a step; undefined when its condition did not hold. */
export type Outcome = Result | LibsqlError | undefined;

type Value =
  | { type: "null" }
  | { type: "integer" | "text"; value: string }
  | { type: "float"; value: number }
  | { type: "blob"; base64: string };
interface StepResult {
  cols: { name: string | null }[];
  rows: Value[][];
  affected_row_count: number;
}
interface Failure {
  message: string;
  code?: string;
}
interface PipelineAnswer {
  baton: string | null;
  results: {
    error?: Failure;
    response?: { result: { step_results: (StepResult | null)[]; step_errors: (Failure | null)[] } };
  }[];
}

/**
 * A stream of a libSQL server over HTTP (Hrana 3): a connection there, which is kept between exchanges, because the server
 * reads the whole schema for a new one. It runs one batch at a time.
 */
export class HranaStream {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  #baton: string | null = null;

  constructor(url: string, authToken: string | undefined, timeoutMs: number) {
    this.#url = new URL("v3/pipeline", url.endsWith("/") ? url : `${url}/`).href;
    // Compressing an answer would cost the server a third of the work of a small exchange.
    this.#headers = { "content-type": "application/json", "accept-encoding": "identity" };
    if (authToken !== undefined) this.#headers.authorization = `Bearer ${authToken}`;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs the steps in one exchange. A step's own failure is its outcome.
   * @throws LibsqlError or an error of the network when the whole batch failed; it may have run all the same.
   */
  async run(steps: readonly Step[]): Promise<Outcome[]> {
    const encoded = steps.map(({ sql, args = [], condition = null }) => {
      return { condition, stmt: { sql, args: args.map(encodeValue) } };
    });
    const requests = [{ type: "batch", batch: { steps: encoded } }];
    const baton = this.#baton;
    this.#baton = null;
    let reply = await this.#send({ baton, requests });
    // The server has forgotten the stream, and refuses to run anything on it.
    if (baton !== null && (reply.status === 400 || reply.status === 404)) reply = await this.#send({ requests });
    if (!reply.ok) throw new LibsqlError(`HTTP status ${reply.status}: ${await reply.text()}`, "SERVER_ERROR");
    const answer = (await reply.json().catch((cause: Error) => {
      throw new LibsqlError("The server's answer cannot be read.", "SERVER_ERROR", undefined, undefined, cause);
    })) as PipelineAnswer;
    const [result] = answer.results;
    if (result?.response === undefined) throw toError(result?.error ?? { message: "The answer has no result." });
    this.#baton = answer.baton;
    const { step_results: results, step_errors: errors } = result.response.result;
    return steps.map((_, index) => {
      const error = errors[index];
      const result = results[index];
      return error ? toError(error) : result ? toResult(result) : undefined;
    });
  }

  /** Ends the stream at the server, where an open transaction is rolled back. */
  async close(): Promise<void> {
    if (this.#baton === null) return;
    const baton = this.#baton;
    this.#baton = null;
    await this.#send({ baton, requests: [{ type: "close" }] }).catch(() => {});
  }

  #send(body: object): Promise<Response> {
    return fetch(this.#url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
  }
}

function encodeValue(value: BoundValue): Value {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "bigint") return { type: "integer", value: String(value) };
  return { type: "blob", base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
}

function decodeValue(value: Value): unknown {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return value.value.length < 16 ? Number(value.value) : BigInt(value.value);
    case "blob":
      return new Uint8Array(Buffer.from(value.base64, "base64"));
    default:
      return value.value;
  }
}

const rowMakers = new LruCache<RowMaker>(512);

function toResult({ cols, rows, affected_row_count: rowsAffected }: StepResult): Result {
  if (rows.length === 0) return { rows: [], rowsAffected };
  const makeRow = rowMakers.getOrMake(cols.map(({ name }) => name ?? "").join("\0"), (names) =>
    createRowMaker(names.split("\0")),
  );
  return { rows: rows.map((row) => makeRow(row.map(decodeValue))), rowsAffected };
}

function toError({ message, code }: Failure): LibsqlError {
  return new LibsqlError(message, code ?? "UNKNOWN");
}
