import { totalmem } from "node:os";
import type { InStatement } from "@libsql/core/api";
import { atTurnEnd } from "../../concurrency/event-loop.ts";
import { MiB } from "../../values/units.ts";
import { isBusy, retryWhileBusy } from "../db-errors.ts";
import type { Result } from "../session.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { Libsql } from "./load-libsql.ts";

/** The maximum size of SQLite's cache. On a machine with enough memory, it holds the indexes of a large catalogue. */
const cacheKiB = Math.round(Math.min(128, Math.max(16, totalmem() / MiB / 64))) * 1024;

/** Reads a local file over a synchronous read-only connection. */
export class Reader {
  readonly connection: Connection;
  readonly #deadlineMs: number;
  /** The commit counter at the start of this turn's snapshot; undefined without a snapshot. */
  #version: number | undefined;

  /** @param options of its connection; `deadlineMs`: how long a read waits for a lock. */
  constructor(libsql: Libsql, path: string, { deadlineMs, ...options }: ConnectionOptions & { deadlineMs: number }) {
    this.connection = new Connection(libsql, path, { cacheKiB, ...options, readOnly: true });
    this.#deadlineMs = deadlineMs;
  }

  run(stmt: InStatement): Promise<Result> {
    return this.#read(() => this.connection.execute(stmt));
  }

  /** Runs statements on one snapshot. */
  batch(stmts: InStatement[]): Promise<Result[]> {
    return this.#read(() => {
      this.dataVersion();
      return stmts.map((stmt) => this.connection.execute(stmt));
    });
  }

  /**
   * Returns SQLite's counter of commits by other connections, including the writer of this process. The call begins a
   * snapshot for all reads of this turn of the event loop. So these reads lock the file only once; a lock costs as much
   * as a short query.
   */
  dataVersion(): number {
    if (this.#version !== undefined) return this.#version;
    this.connection.run("BEGIN");
    try {
      const version = this.connection.first("PRAGMA data_version")?.[0] as number;
      // The engine counts in 32 bits, and starts from zero in each connection, so the number of engines is added.
      this.#version = this.connection.reopened * 2 ** 32 + version;
    } catch (error) {
      this.connection.run("ROLLBACK");
      throw error;
    }
    atTurnEnd(this.dropSnapshot);
    return this.#version;
  }

  /** Ends the snapshot, so that the next read sees later commits and checkpoints can run. */
  readonly dropSnapshot = (): void => {
    if (this.#version === undefined) return;
    this.#version = undefined;
    if (this.connection.inTransaction) this.connection.run("ROLLBACK");
  };

  close(): void {
    this.dropSnapshot();
    this.connection.close();
  }

  // Readers find the file locked only while another process recovers the WAL. This takes a moment.
  #read<T>(work: () => T): Promise<T> {
    try {
      return Promise.resolve(work());
    } catch (error) {
      return isBusy(error) ? retryWhileBusy(async () => work(), this.#deadlineMs) : Promise.reject(error);
    }
  }
}
