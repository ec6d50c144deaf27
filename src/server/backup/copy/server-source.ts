import type { Client, Transaction } from "@libsql/core/api";
import { mapServerError } from "../../db/db-errors.ts";
import { ServerDatabase } from "../../db/server/server-database.ts";
import type { Database } from "../../db/session.ts";
import type { CopiedValue, ReadRows } from "./tables.ts";

/** Returns a client that reads integers exactly and whose calls may take minutes. */
export function copyClientOf(db: Database): Client {
  if (!(db instanceof ServerDatabase)) throw new TypeError("Only a database server can be copied this way.");
  return db.copyClient();
}

/** Opens a snapshot of a server's database. It expires unless a page is read every few seconds. */
export async function openSnapshot(db: Database): Promise<{ read: ReadRows; close(): void }> {
  let transaction: Transaction;
  try {
    transaction = await copyClientOf(db).transaction("read");
    await transaction.execute("SELECT 1 FROM sqlite_schema LIMIT 1");
  } catch (error) {
    throw mapServerError(error);
  }
  return { read: (sql, args) => readFrom(transaction, sql, args), close: () => transaction.close() };
}

/** Throws RESPONSE_TOO_LARGE unchanged, and other errors as unavailable. */
export async function readFrom(source: Pick<Client, "execute">, sql: string, args: CopiedValue[] = []) {
  try {
    const { rows } = await source.execute({ sql, args });
    return rows.map((row) => Array.from(row) as CopiedValue[]);
  } catch (error) {
    if ((error as { code?: string }).code === "RESPONSE_TOO_LARGE") throw error;
    throw mapServerError(error);
  }
}
