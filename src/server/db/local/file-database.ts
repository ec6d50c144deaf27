import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { MiB } from "../../values/units.ts";
import { sqlOf } from "../bind-args.ts";
import { WriteQueue, type WriteQueueOptions } from "../group-commit/write-queue.ts";
import { shapeOf } from "../scan-sql.ts";
import type { BatchMode, Database, Result, Session } from "../session.ts";
import { BallastFile } from "./ballast-file.ts";
import { Connection } from "./connection.ts";
import { watchFile, watchSuspension } from "./file-watch.ts";
import { createFileWriter } from "./file-writer.ts";
import type { Libsql } from "./load-libsql.ts";
import { LockFairness } from "./lock-fairness.ts";
import { Reader } from "./reader.ts";
import { type WalObserver, WalTruncator } from "./wal-truncator.ts";

const writerCacheKiB = 8 * 1024;
const largeWalBytes = 4 * MiB;
export const maxWalBytes = 256 * MiB;
/** A harmless write. It must change a row, or SQLite would write nothing. The new revision makes caches read again. */
const probe = "UPDATE revision SET value = value + 1";

export interface FileDatabaseOptions extends Partial<WriteQueueOptions> {
  /** Whether a server's checkpointer empties the WAL. If so, writes wait while the WAL is too large. */
  hasCheckpointer?: boolean;
  /** Whether a standby may take over. If so, writes wait after a suspension until the server has checked this. */
  isReplicated?: boolean;
  afterClose?: () => void;
  /** Whether a server uses the file. If so, its checkpointer empties the WAL, and closing does not. */
  isServerRunning?: () => Promise<boolean>;
}

/**
 * A database in a local file. Statements that only read run at once on the reader connection; all others go through the
 * write queue and are answered after their COMMIT.
 */
export class FileDatabase implements Database {
  readonly kind = "file";
  readonly path: string;
  readonly queue: WriteQueue;
  readonly writer: Connection;
  readonly reader: Reader;
  readonly reserve: BallastFile;
  readonly #emptier: WalTruncator;
  readonly #options: FileDatabaseOptions;
  readonly #fairness: LockFairness;
  /** Three functions. Each returns whether its path still names the file that was opened. */
  readonly #inPlace: Record<"file" | "wal" | "index", () => boolean>;
  #isClosed = false;

  /** Opens the file, creating it where needed. Errors: unavailable when it cannot be opened. */
  constructor(libsql: Libsql, path: string, options: FileDatabaseOptions = {}) {
    this.path = path;
    this.#options = options;
    const isInPlace = () => this.isInPlace();
    this.writer = new Connection(libsql, path, { cacheKiB: writerCacheKiB, isInPlace });
    this.reader = new Reader(libsql, path, { deadlineMs: options.lockDeadlineMs ?? 5000, isInPlace });
    this.reserve = new BallastFile(path);
    this.#inPlace = { file: watchFile(path), wal: watchFile(`${path}-wal`), index: watchFile(`${path}-shm`) };
    this.#fairness = new LockFairness(`${path}-turns`);
    const requireFile = () => {
      if (!isInPlace()) throw unavailable("The database file was removed or replaced.", { isInternal: true });
    };
    const onCommit = this.reader.dropSnapshot;
    const fileWriter = createFileWriter(this.writer, this.#fairness, { requireFile, onCommit });
    const hasJustResumed = options.isReplicated ? watchSuspension() : () => false;
    const mustWait = () => this.#fairness.isHeld() || this.#isWalFull() || hasJustResumed();
    this.queue = new WriteQueue(fileWriter, { ...options, mustWait });
    const walBytes = () => this.walBytes();
    const isOverDisk = () => this.#isOverDisk(walBytes());
    const parts = { libsql, path, walBytes, writer: this.writer, reader: this.reader, isInPlace, isOverDisk };
    this.#emptier = new WalTruncator({ ...parts, fairness: this.#fairness });
  }

  execute(stmt: InStatement): Promise<Result> {
    if (shapeOf(sqlOf(stmt)).reads) return this.reader.run(stmt);
    return this.queue.run([stmt]).then(([result]) => result as Result);
  }

  async batch(stmts: InStatement[], mode: BatchMode = "write"): Promise<Result[]> {
    return mode === "read" ? this.reader.batch(stmts) : this.queue.run(stmts);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return this.queue.transaction(fn);
  }

  migrate(stmts: InStatement[]): Promise<void> {
    const { writer, queue } = this;
    return queue.exclusive(async () => {
      writer.script("PRAGMA foreign_keys = OFF");
      try {
        if (!(await queue.beginExclusive())) throw unavailable("The database is busy.", { isInternal: true });
        for (const stmt of stmts) writer.execute(stmt);
        writer.run("COMMIT");
      } finally {
        if (writer.inTransaction) writer.run("ROLLBACK");
        writer.script("PRAGMA foreign_keys = ON");
      }
    });
  }

  dataVersion(): number | null {
    return this.reader.dataVersion();
  }

  /**
   * Moves the WAL into the database file, so that the WAL is empty. Returns false if a reader or process prevents it.
   * SQLite 3.45 can lose pages when a commit runs during a checkpoint, so only TRUNCATE is used, which holds the write
   * lock.
   */
  async checkpoint(): Promise<boolean> {
    // If the path names another file, nothing is moved: only this WAL has the last writes to the removed file.
    if (this.#isClosed || !this.isInPlace()) return false;
    this.#emptier.open();
    return this.queue.exclusive(async () => (await this.queue.beginExclusive()) && this.#emptier.empty());
  }

  async checkWrites(): Promise<void> {
    if (this.writer.isDamaged || this.reader.connection.isDamaged) {
      const message = "The database file is damaged. Stop the server and check it with: bodega db check";
      throw unavailable(message, { isInternal: true });
    }
    if (this.queue.lostSince === undefined) return;
    // Commits of other work prove nothing: a commit that changes no row succeeds on a full disk, too.
    await this.execute(probe);
    this.queue.lostSince = undefined;
  }

  /** Whether the WAL may be emptied. The replicator may have to read more of the WAL first. */
  mayEmptyWal(): boolean {
    return this.#emptier.mayEmpty();
  }

  observeWal(observer: WalObserver): void {
    this.#emptier.observer = observer;
  }

  walBytes(): number {
    return attempt(() => statSync(`${this.path}-wal`).size) ?? 0;
  }

  /** Returns false once the database file, its WAL or the WAL's index has been removed or replaced. */
  isInPlace(): boolean {
    return this.#inPlace.file() && this.#inPlace.wal() && this.#inPlace.index();
  }

  /** Renames the WAL of a database file that has been removed or replaced, and returns its new path. */
  quarantineWal(): string | undefined {
    // SQLite would write this WAL into the other database file that now has the path.
    if (this.#inPlace.file() || !this.#inPlace.wal() || !existsSync(`${this.path}-wal`)) return undefined;
    const aside = `${this.path}-wal.orphaned-${Date.now()}`;
    renameSync(`${this.path}-wal`, aside);
    rmSync(`${this.path}-shm`, { force: true });
    return aside;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.queue.drain();
    const hasWal = this.queue.commits > 0 || this.walBytes() > largeWalBytes;
    if (hasWal && (await this.#options.isServerRunning?.()) === false) await this.checkpoint().catch(() => false);
    this.#isClosed = true;
    // If the WAL cannot be read from the disk, nothing is closed: closing the last connection would empty the WAL.
    if (!this.#emptier.isWalReadable) return;
    this.#emptier.close();
    this.reader.close();
    this.writer.close();
    this.#fairness.close();
    this.#options.afterClose?.();
  }

  /** Whether the WAL has reached its limit, or is larger than the free space of its disk. */
  #isWalFull(): boolean {
    const size = this.walBytes();
    if (size <= largeWalBytes || !this.#options.hasCheckpointer) return false;
    // The replicator may delay emptying the WAL until the WAL reaches a second limit, which is added here.
    return size > maxWalBytes + (this.#emptier.observer?.maxWalBytes ?? 0) || this.#isOverDisk(size);
  }

  #isOverDisk(size: number): boolean {
    return size > this.reserve.spareBytes + this.reserve.freeBytes;
  }
}
