import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { bindValue } from "../db/bind-args.ts";
import { mapDbError } from "../db/db-errors.ts";
import { type Engine, type EngineStatement, loadLibsql } from "../db/load-libsql.ts";
import { AppError } from "../errors.ts";
import type { CopiedValue, ReadRows } from "./table-plan.ts";

const cacheKiB = 64 * 1024;
// A copy takes what is there: what is wrong with it is for a check to say, not for the copy to fail at.
const newFilePragmas = [
  "journal_mode = DELETE",
  "synchronous = OFF",
  "foreign_keys = OFF",
  "ignore_check_constraints = ON",
];

/**
 * A database file that nobody else uses: a copy in the making, or one that is read. It has no log beside it, and integers
 * come as they are. Never for the file of a data directory.
 */
export class PlainFile {
  readonly #engine: Engine;
  readonly #kept = new Map<string, EngineStatement>();

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Makes a new file, readable by its owner only. Errors: 5001 when that is impossible, 5302 when there is one. */
  static async create(path: string): Promise<PlainFile> {
    try {
      closeSync(openSync(path, "wx", 0o600));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw new AppError(5302, `${path} is there already.`);
      throw new AppError(5001, `${path} cannot be written.`, { cause });
    }
    return PlainFile.#open(path, newFilePragmas);
  }

  /** Opens a file for reading. Errors: 5001 when it cannot be opened. */
  static read(path: string): Promise<PlainFile> {
    return PlainFile.#open(path, ["query_only = ON"]);
  }

  static async #open(path: string, pragmas: string[]): Promise<PlainFile> {
    const libsql = await loadLibsql();
    try {
      const engine = new libsql(path, { timeout: 0 });
      const shared = ["mmap_size = 0", "wal_autocheckpoint = 0", `cache_size = -${cacheKiB}`];
      for (const pragma of [...pragmas, ...shared]) engine.prepare(`PRAGMA ${pragma}`).get([]);
      return new PlainFile(engine);
    } catch (error) {
      throw mapDbError(error);
    }
  }

  /** Runs a script of several statements. Errors: 5001 for what the disk or the file refuses. */
  script(sql: string): void {
    try {
      this.#engine.exec(sql);
    } catch (error) {
      throw mapDbError(error);
    }
  }

  /** Runs one statement that answers nothing. Errors as `script`. */
  run(sql: string, args: readonly CopiedValue[] = []): void {
    this.#try(sql, (statement) => statement.run(args.map(bindValue)));
  }

  /** All rows of a statement. Errors as `script`. */
  rows(sql: string, args: readonly CopiedValue[] = []): CopiedValue[][] {
    return this.#try(sql, (statement) => statement.all(args.map(bindValue))) as CopiedValue[][];
  }

  readonly read: ReadRows = async (sql, args) => this.rows(sql, args);

  close(): void {
    this.#kept.clear();
    this.#engine.close();
  }

  #try<T>(sql: string, work: (statement: EngineStatement) => T): T {
    try {
      let statement = this.#kept.get(sql);
      if (statement === undefined) {
        statement = this.#engine.prepare(sql);
        if (statement.reader) statement.raw(true).safeIntegers(true);
        this.#kept.set(sql, statement);
      }
      return work(statement);
    } catch (error) {
      throw mapDbError(error);
    }
  }
}

/** Waits until a file, and its name in its folder, can no more be lost by a power cut. */
export function syncToDisk(path: string): void {
  for (const one of [path, dirname(path)]) {
    const file = openSync(one, "r");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Removes a copy that did not come to its end. */
export function removeCopy(path: string): void {
  for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}
