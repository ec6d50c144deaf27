import { statSync } from "node:fs";
import type { InStatement, ResultSet } from "@libsql/core/api";
import { copyClientOf } from "../../backup/copy/server-source.ts";
import type { Config } from "../../config/config.ts";
import { argsOf, sqlOf } from "../../db/bind-args.ts";
import { mapServerError } from "../../db/db-errors.ts";
import { Connection } from "../../db/local/connection.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { shareFile } from "../../db/local/open-file-lock.ts";
import { openDatabase } from "../../db/open.ts";
import type { Database, Session } from "../../db/session.ts";

const busyTimeoutMs = 5000;
const cacheKiB = 32 * 1024;
const lookEveryMs = 10;

/** A database that is looked at, and never changed. */
export interface Subject {
  kind: "file" | "server";
  /** Says no kind, so that whoever looks at records does not look through the file once more. */
  session: Session;
  /** Of what `readSize` counts. */
  size: Pick<Database, "kind" | "execute" | "walBytes">;
  /** Asks what may take minutes. */
  ask(sql: string): Promise<ResultSet>;
  /** Does what keeps one snapshot for long: the server's checkpointer does not wait for it, and goes on later. */
  atLength<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a file for reading only, as it is. Errors: unavailable. */
export async function openFileSubject(path: string): Promise<Subject> {
  const libsql = await loadLibsql();
  const users = await shareFile(path);
  try {
    const connection = new Connection(libsql, path, { readOnly: true, keepFormat: true, busyTimeoutMs, cacheKiB });
    const session = new ReadSession(connection);
    return {
      kind: "file",
      session,
      size: {
        kind: "file",
        execute: (stmt) => session.execute(stmt),
        walBytes: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      },
      ask: (sql) => session.execute(sql),
      async atLength(work) {
        const readers = new FileLock(libsql, `${path}-readers`);
        try {
          while (!readers.tryShared()) await Bun.sleep(lookEveryMs);
          return await work();
        } finally {
          readers.close();
        }
      },
      async close() {
        connection.close();
        users.close();
      },
    };
  } catch (error) {
    users.close();
    throw error;
  }
}

/** Opens a libSQL server's database. Errors: unavailable when it does not answer, validationFailed for an address that is none. */
export async function openServerSubject(config: Config, url: string): Promise<Subject> {
  const { dataDir, databaseAuthToken: authToken } = config;
  const db = await openDatabase({ dataDir, url, ...(authToken !== undefined && { authToken }) });
  return {
    kind: "server",
    session: db,
    size: db,
    async ask(sql) {
      try {
        return await copyClientOf(db).execute(sql);
      } catch (error) {
        throw mapServerError(error);
      }
    },
    atLength: (work) => work(),
    close: () => db.close(),
  };
}

/** A session over one connection that changes nothing. */
class ReadSession implements Session {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async execute(stmt: InStatement): Promise<ResultSet> {
    return this.#connection.run(sqlOf(stmt), argsOf(stmt));
  }

  /** Sees one snapshot. */
  async batch(stmts: InStatement[]): Promise<ResultSet[]> {
    this.#connection.run("BEGIN");
    try {
      return stmts.map((stmt) => this.#connection.run(sqlOf(stmt), argsOf(stmt)));
    } finally {
      this.#connection.run("ROLLBACK");
    }
  }

  transaction(): Promise<never> {
    return Promise.reject(new TypeError("A database that is only looked at is not changed."));
  }
}
