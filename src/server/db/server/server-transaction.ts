import type { InArgs, InStatement, ResultSet, Transaction } from "@libsql/core/api";
import { AppError, unavailable } from "../../errors.ts";
import { mapServerError } from "../db-errors.ts";
import { bindForServer, retryWhileBusy } from "./server-calls.ts";

const limitMs = 5000;

interface ServerTransactionOptions {
  /** How long the first statement may wait for the server's lock. */
  deadlineMs: number;
  /** Runs once when the transaction is over, however it ends. */
  atEnd: () => void;
}

/**
 * An interactive transaction on a server. BEGIN travels with the first statement, and as long as that finds the
 * database locked both are repeated: nothing has run by then. After 5 s it is closed, as the server would do itself.
 */
export class ServerTransaction implements Transaction {
  readonly #begin: () => Promise<Transaction>;
  readonly #options: ServerTransactionOptions;
  readonly #expire: (error: AppError) => void;
  #timer: Timer | undefined;
  #begun: Promise<unknown> | undefined;
  #inner: Transaction | undefined;
  #over = false;
  /** Rejects with unavailable when the time is over; never resolves. */
  readonly expired: Promise<never>;

  constructor(begin: () => Promise<Transaction>, options: ServerTransactionOptions) {
    this.#begin = begin;
    this.#options = options;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.expired = promise;
    this.#expire = reject;
    this.#allow(limitMs);
  }

  get closed(): boolean {
    return this.#over;
  }

  async execute(stmt: InStatement | string, args?: InArgs): Promise<ResultSet> {
    const whole = args === undefined ? stmt : { sql: stmt as string, args };
    return (await this.batch([whole]))[0] as ResultSet;
  }

  async batch(stmts: (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    this.#assertOpen();
    const bound = stmts.map(bindForServer);
    if (this.#begun === undefined) {
      // The time that it waits for the lock is not its own.
      this.#allow(this.#options.deadlineMs + limitMs);
      const first = retryWhileBusy(async () => {
        this.#assertOpen();
        this.#inner = await this.#begin();
        return this.#inner.batch(bound);
      }, this.#options.deadlineMs);
      this.#begun = first.catch(() => {}).then(() => this.#allow(limitMs));
      return first;
    }
    await this.#begun;
    return this.#run((inner) => inner.batch(bound));
  }

  async executeMultiple(sql: string): Promise<void> {
    this.#assertOpen();
    await this.#begun;
    this.#inner ??= await this.#begin();
    await this.#run((inner) => inner.executeMultiple(sql));
  }

  async commit(): Promise<void> {
    this.#assertOpen();
    await this.#begun;
    try {
      await this.#inner?.commit();
    } catch (error) {
      const mapped = mapServerError(error);
      // Whatever the server says, a transaction that it did not commit may be tried again.
      throw mapped instanceof AppError ? mapped : unavailable(undefined, { cause: error });
    } finally {
      this.#end();
    }
  }

  async rollback(): Promise<void> {
    if (this.#over) return;
    await this.#begun;
    try {
      await this.#inner?.rollback();
    } catch {
      // A server that cannot be reached rolls back by itself when the time is over.
    } finally {
      this.#end();
    }
  }

  close(): void {
    if (this.#over) return;
    this.#inner?.close();
    this.#end();
  }

  #end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#options.atEnd();
  }

  #allow(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    this.#timer = setTimeout(() => {
      this.close();
      this.#expire(unavailable("The transaction took too long.", { retryAfter: 1 }));
    }, ms);
  }

  async #run<T>(work: (inner: Transaction) => Promise<T>): Promise<T> {
    this.#assertOpen();
    if (this.#inner === undefined) throw unavailable("The transaction could not begin.");
    try {
      return await work(this.#inner);
    } catch (error) {
      throw mapServerError(error);
    }
  }

  #assertOpen(): void {
    if (this.#over) throw unavailable("The transaction has already ended.");
  }
}
