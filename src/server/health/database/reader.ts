import { statSync } from "node:fs";
import { openConfiguredDatabase } from "../../admin/open-database.ts";
import { copyClientOf } from "../../backup/copy/server-source.ts";
import type { Config } from "../../config/config.ts";
import { argsOf, sqlOf } from "../../db/bind-args.ts";
import { mapServerError } from "../../db/db-errors.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { restrictFileModes } from "../../db/local/file-modes.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { lockShared } from "../../db/local/open-file-lock.ts";
import { Reader } from "../../db/local/reader.ts";
import type { Result, Session } from "../../db/session.ts";

const deadlineMs = 5000;
const cacheKiB = 32 * 1024;
const lockRetryMs = 10;

/** The size of a database in bytes, of which free pages are unused; null where there is no file. */
export type DatabaseSize = Record<"bytes" | "wal_bytes" | "unused_bytes", number | null>;

export const unknownSize: DatabaseSize = { bytes: null, wal_bytes: null, unused_bytes: null };

export interface DatabaseReader {
  kind: "file" | "server";
  session: Session;
  /** Runs a query that may take minutes. */
  query(sql: string): Promise<Result>;
  /** Runs work that keeps one snapshot for long, without blocking the server's checkpointer. */
  holdSnapshot<T>(work: () => Promise<T>): Promise<T>;
  readSize(): Promise<DatabaseSize>;
  close(): Promise<void>;
}

export async function openFileReader(path: string): Promise<DatabaseReader> {
  const libsql = await loadLibsql();
  const openLock = await lockShared(path);
  const restoreModes = restrictFileModes(path, true);
  try {
    const reader = new Reader(libsql, path, { deadlineMs, keepFormat: true, cacheKiB });
    const { connection } = reader;
    const session: Session = {
      execute: (stmt) => reader.run(sqlOf(stmt), argsOf(stmt)),
      batch: (stmts) => reader.batch(stmts),
      transaction: () => Promise.reject(new TypeError("This database is open for reading only.")),
    };
    return {
      kind: "file",
      session,
      query: (sql) => session.execute(sql),
      async holdSnapshot(work) {
        const readers = new FileLock(libsql, `${path}-readers`);
        try {
          while (!readers.tryShared()) await Bun.sleep(lockRetryMs);
          return await work();
        } finally {
          readers.close();
        }
      },
      async readSize() {
        const { rows } = connection.run("SELECT * FROM pragma_page_size, pragma_page_count, pragma_freelist_count", []);
        const [page = 0, pages = 0, unused = 0] = Array.from(rows[0] ?? [], Number);
        const wal_bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
        return { bytes: page * pages, wal_bytes, unused_bytes: page * unused };
      },
      async close() {
        connection.close();
        restoreModes();
        openLock.close();
      },
    };
  } catch (error) {
    openLock.close();
    throw error;
  }
}

/** Opens the database of a libSQL server. Errors: unavailable when it does not answer, validationFailed for an invalid address. */
export async function openServerReader(config: Config): Promise<DatabaseReader> {
  const db = await openConfiguredDatabase(config);
  return {
    kind: "server",
    session: db,
    async query(sql) {
      try {
        return await copyClientOf(db).execute(sql);
      } catch (error) {
        throw mapServerError(error);
      }
    },
    holdSnapshot: (work) => work(),
    readSize: async () => unknownSize,
    close: () => db.close(),
  };
}
