import { statSync } from "node:fs";
import type { InStatement } from "@libsql/core/api";
import { copyClientOf } from "../../backup/copy/server-source.ts";
import type { Config } from "../../config/config.ts";
import { argsOf, sqlOf } from "../../db/bind-args.ts";
import { mapServerError } from "../../db/db-errors.ts";
import { Connection } from "../../db/local/connection.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { modeKeeper } from "../../db/local/keep-modes.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { shareFile } from "../../db/local/open-file-lock.ts";
import { openConfiguredDatabase } from "../../db/open.ts";
import type { Result, Session } from "../../db/session.ts";

const busyTimeoutMs = 5000;
const cacheKiB = 32 * 1024;
const lockRetryMs = 10;

/** The size of a database in bytes; null where there is no file. */
export interface DatabaseSize {
  bytes: number | null;
  /** The write-ahead log. */
  wal_bytes: number | null;
  /** Free pages, which later rows will use. */
  unused_bytes: number | null;
}

/** A database that is open for reading only. */
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

/** Opens a file for reading only. Errors: unavailable. */
export async function openFileReader(path: string): Promise<DatabaseReader> {
  const libsql = await loadLibsql();
  const openLock = await shareFile(path);
  const restoreModes = modeKeeper(path, true);
  try {
    const connection = new Connection(libsql, path, { readOnly: true, keepFormat: true, busyTimeoutMs, cacheKiB });
    const session = readSession(connection);
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
        const [page = 0, pages = 0, unused = 0] = ["page_size", "page_count", "freelist_count"].map((name) =>
          Number(connection.run(`PRAGMA ${name}`, []).rows[0]?.[0]),
        );
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
    readSize: async () => ({ bytes: null, wal_bytes: null, unused_bytes: null }),
    close: () => db.close(),
  };
}

/** A session on one read-only connection; a batch reads one snapshot. */
function readSession(connection: Connection): Session {
  const read = (stmt: InStatement) => connection.run(sqlOf(stmt), argsOf(stmt));
  return {
    execute: async (stmt) => read(stmt),
    async batch(stmts) {
      connection.run("BEGIN");
      try {
        return stmts.map(read);
      } finally {
        connection.run("ROLLBACK");
      }
    },
    transaction: () => Promise.reject(new TypeError("This database is open for reading only.")),
  };
}
