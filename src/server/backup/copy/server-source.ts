import type { Client, Transaction } from "@libsql/core/api";
import { mapServerError } from "../../db/db-errors.ts";
import { ServerClient } from "../../db/server/server-client.ts";
import type { Database } from "../../db/session.ts";
import type { CopiedValue, ReadRows } from "./table-plan.ts";

/** A libSQL server's database as it was at one moment, whatever others write meanwhile. */
export interface Snapshot {
  read: ReadRows;
  close(): void;
}

/**
 * The client for copies of a server's database: integers come as they are, and a
 * call may take minutes.
 * @throws TypeError for a database that lies in a file.
 */
export function copyClientOf(db: Database): Client {
  const server = db.client;
  if (!(server instanceof ServerClient)) throw new TypeError("Only a database server can be copied in this way.");
  return server.forCopies();
}

/** Opens a snapshot. It stays for as long as each page is asked for within seconds of the one before it. */
export async function openSnapshot(db: Database): Promise<Snapshot> {
  let transaction: Transaction;
  try {
    transaction = await copyClientOf(db).transaction("read");
    // The moment is that of the first look.
    await transaction.execute("SELECT 1 FROM sqlite_schema LIMIT 1");
  } catch (error) {
    throw mapServerError(error);
  }
  return {
    read: (sql, args) => readFrom(transaction, sql, args),
    close: () => transaction.close(),
  };
}

/** Reads through a client or a transaction of a server. Errors: unavailable as everywhere; a page that is too large as it is. */
export async function readFrom(
  source: Pick<Client, "execute">,
  sql: string,
  args: CopiedValue[] = [],
): Promise<CopiedValue[][]> {
  try {
    const { rows } = await source.execute({ sql, args });
    return rows.map((row) => Array.from(row) as CopiedValue[]);
  } catch (error) {
    if ((error as { code?: string }).code === "RESPONSE_TOO_LARGE") throw error;
    throw mapServerError(error);
  }
}
