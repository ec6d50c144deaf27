import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Connection } from "../../db/local/connection.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { conflict, unavailable } from "../../errors.ts";
import type { ReadRows } from "./table-plan.ts";

const cacheKiB = 64 * 1024;
// A copy takes what is there: what is wrong with it is for a check to say, not for the copy to fail at. A file that is no
// database before its one COMMIT need not be safe on the way there.
const freely = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF";

/**
 * Makes a new database file, readable by its owner only, and opens it for being filled in one transaction.
 * @throws unavailable when that is impossible, conflict when there is such a file.
 */
export async function createCopy(path: string): Promise<Connection> {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw conflict(`${path} is there already.`);
    throw unavailable(`${path} cannot be written.`, { cause });
  }
  const connection = new Connection(await loadLibsql(), path, { keepFormat: true, cacheKiB });
  connection.script(freely);
  return connection;
}

/** Waits until a finished copy, and its name in its folder, can no more be lost by a power cut. */
export function syncCopy(path: string): void {
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

/** Reads through a connection as from a server. */
export function readThrough(connection: Connection): ReadRows {
  return async (sql, args) => connection.values(sql, args);
}
