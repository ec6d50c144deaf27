import { databaseFile, makeDataDir } from "../config/data-dir.ts";
import { unavailable, validationFailed } from "../errors.ts";
import { quoteWord } from "../values/shell-quote.ts";
import { FileDatabase, type FileDatabaseOptions } from "./local/file-database.ts";
import { isServerRunning } from "./local/file-lock.ts";
import { findClosed, restrictFileModes } from "./local/file-modes.ts";
import { loadLibsql } from "./local/load-libsql.ts";
import { lockShared } from "./local/open-file-lock.ts";
import type { Database } from "./session.ts";

const serverAddress = /^(?:https?|libsql|wss?):\/\//;

type WriteOptions = Pick<FileDatabaseOptions, "lockDeadlineMs" | "beforeCommit" | "hasCheckpointer" | "isReplicated">;

export interface DatabaseOptions extends WriteOptions {
  dataDir: string;
  /** The address of a libSQL server. If it is undefined, the database is the file in `dataDir`. */
  url?: string | undefined;
  /** Returns the token for the libSQL server. Each new connection calls this function. */
  readToken?: (() => string | undefined) | undefined;
  /** Keeps mode and owner of existing local files, for commands that only read. */
  leaveModes?: boolean;
}

/** Opens a database file or connects to a server. Throws unavailable; validationFailed for an unusable address. */
export async function openDatabase({ url, readToken, ...options }: DatabaseOptions): Promise<Database> {
  if (url === undefined) return openFile(options);
  if (!serverAddress.test(url)) {
    throw validationFailed("The database address must begin with http:, https:, libsql:, ws: or wss:.");
  }
  const { ServerDatabase } = await import("./server/server-database.ts");
  const { lockDeadlineMs = 5000, beforeCommit } = options;
  return new ServerDatabase(url, { readToken: readToken ?? (() => undefined), lockDeadlineMs, beforeCommit });
}

async function openFile({ dataDir, leaveModes = false, ...options }: DatabaseOptions): Promise<Database> {
  const libsql = await loadLibsql();
  makeDataDir(dataDir);
  const path = databaseFile(dataDir);
  const [closed] = findClosed(path);
  if (closed !== undefined && !leaveModes && process.getuid?.() !== 0) {
    throw unavailable(`This account may not read and write ${closed}.`, { remedy: `chmod 600 ${quoteWord(closed)}` });
  }
  const users = await lockShared(path);
  const closeToOthers = restrictFileModes(path, leaveModes);
  try {
    const db = new FileDatabase(libsql, path, {
      ...options,
      isServerRunning: () => isServerRunning(dataDir),
      afterClose() {
        // SQLite has given the WAL and its index the mode of the database file, so their modes are set again.
        if (leaveModes) closeToOthers();
        users.close();
      },
    });
    // SQLite has created the WAL and its index with the old mode of the database file, so all modes are set now.
    closeToOthers();
    return db;
  } catch (error) {
    users.close();
    throw error;
  }
}
