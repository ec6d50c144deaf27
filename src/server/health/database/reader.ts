import type { Row } from "@libsql/core/api";
import { openConfiguredDatabase } from "../../admin/open-database.ts";
import { copyClientOf } from "../../backup/copy/tables.ts";
import type { Config } from "../../config/config.ts";
import { mapServerError, sqliteCodeOf } from "../../db/db-errors.ts";
import { Connection } from "../../db/local/connection.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { restrictFileModes } from "../../db/local/file-modes.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { lockShared } from "../../db/local/open-file-lock.ts";
import { AppError } from "../../errors.ts";

const readOnly = { readOnly: true, keepFormat: true, busyTimeoutMs: 5000, cacheKiB: 32 * 1024 };

export interface DatabaseReader {
  kind: "file" | "server";
  /** Runs a query. The query may take minutes, and does not block the server's checkpointer. */
  query(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openFileReader(path: string): Promise<DatabaseReader> {
  const libsql = await loadLibsql();
  const openLock = await lockShared(path);
  const readers = new FileLock(libsql, `${path}-readers`);
  const restoreModes = restrictFileModes(path, true);
  const close = async (connection?: Connection) => {
    connection?.close();
    restoreModes();
    readers.close();
    openLock.close();
  };
  try {
    while (!readers.tryShared()) await Bun.sleep(10);
    const connection = new Connection(libsql, path, readOnly);
    return { kind: "file", query: async (sql) => connection.run(sql).rows, close: () => close(connection) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the database of a libSQL server. Throws unavailable if it does not answer, validationFailed for a bad URL. */
export async function openServerReader(config: Config): Promise<DatabaseReader> {
  const db = await openConfiguredDatabase(config);
  // This call has the usual time limit, so a server that does not answer is noticed soon. `query` has no time limit.
  await db.execute("SELECT 1").catch((error) => db.close().then(() => Promise.reject(error)));
  const fail = (error: unknown) => Promise.reject(mapServerError(error));
  const query = async (sql: string) => (await copyClientOf(db).execute(sql).catch(fail)).rows;
  return { kind: "server", query, close: () => db.close() };
}

const damageCodes = /^SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN|SCHEMA|ERROR|MISMATCH|FORMAT)/;

/** Returns the reason if an error shows that the database is damaged. Throws other errors, such as a lock. */
export function describeDamage(error: unknown): string {
  if (!damageCodes.test(sqliteCodeOf(error) ?? "")) throw error;
  const source = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
  const text = source.message.split("\n")[0] ?? "";
  return text.replace(/^(?:SQLITE_\w+: |SQLite error: |SqliteError: )+/, "").replace(/\.$/, "");
}
