import type { InStatement, Transaction } from "@libsql/core/api";
import { AppError, unavailable } from "../../errors.ts";
import { mapServerError } from "../db-errors.ts";
import type { Result, Session } from "../session.ts";
import { bindForServer, retryWhileBusy } from "./calls.ts";

const timeoutMs = 5000;

/**
 * An interactive transaction on a server. BEGIN travels with the first statement, and both are repeated while the database
 * is locked: nothing has run by then. After 5 s it is closed, as the server would do itself.
 */
export class ServerTransaction implements Session {
  readonly #begin: () => Promise<Transaction>;
  readonly #lockDeadlineMs: number;
  readonly #expiry = Promise.withResolvers<never>();
  #timer: Timer | undefined;
  #begun: Promise<unknown> | undefined;
  #inner: Transaction | undefined;
  #hasEnded = false;

  /** @param lockDeadlineMs how long the first statement may wait for the server's lock. */
  constructor(begin: () => Promise<Transaction>, lockDeadlineMs: number) {
    this.#begin = begin;
    this.#lockDeadlineMs = lockDeadlineMs;
    this.#expiry.promise.catch(() => {});
    this.#allow(timeoutMs);
  }

  /** Runs `fn` and commits; rolls back when it fails. Errors: those of `fn`; unavailable when it takes too long. */
  async run<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    try {
      const value = await Promise.race([fn(this), this.#expiry.promise]);
      await this.#commit();
      return value;
    } catch (error) {
      await this.#rollback();
      throw error;
    }
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt]))[0] as Result;
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }

  async batch(stmts: InStatement[]): Promise<Result[]> {
    this.#assertOpen();
    const bound = stmts.map(bindForServer);
    const lockDeadlineMs = this.#lockDeadlineMs;
    if (this.#begun === undefined) {
      // The time that it waits for the lock does not count.
      this.#allow(lockDeadlineMs + timeoutMs);
      const first = retryWhileBusy(async () => {
        this.#assertOpen();
        this.#inner = await this.#begin();
        return this.#inner.batch(bound);
      }, lockDeadlineMs);
      this.#begun = first.catch(() => {}).then(() => this.#allow(timeoutMs));
      return first;
    }
    await this.#begun;
    this.#assertOpen();
    if (this.#inner === undefined) throw unavailable("The transaction could not begin.");
    try {
      return await this.#inner.batch(bound);
    } catch (error) {
      throw mapServerError(error);
    }
  }

  async #commit(): Promise<void> {
    this.#assertOpen();
    await this.#begun;
    try {
      await this.#inner?.commit();
    } catch (error) {
      const mapped = mapServerError(error);
      // A transaction that the server did not commit may always be tried again.
      throw mapped instanceof AppError ? mapped : unavailable(undefined, { cause: error });
    } finally {
      this.#end();
    }
  }

  async #rollback(): Promise<void> {
    if (this.#hasEnded) return;
    await this.#begun;
    try {
      await this.#inner?.rollback();
    } catch {
      // A server that cannot be reached rolls back when its own time limit ends.
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #allow(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return;
    this.#timer = setTimeout(() => {
      this.#inner?.close();
      this.#end();
      this.#expiry.reject(unavailable("The transaction took too long."));
    }, ms);
  }

  #assertOpen(): void {
    if (this.#hasEnded) throw unavailable("The transaction has already ended.");
  }
}
