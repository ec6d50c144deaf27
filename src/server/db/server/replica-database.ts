import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client, InStatement, ResultSet, Row } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { mapServerError } from "../db-errors.ts";
import { makeDataDir, restrictFile } from "../local/data-dir.ts";
import { FileLock } from "../local/file-lock.ts";
import { type Engine, type Libsql, loadLibsql, loadSync } from "../local/load-libsql.ts";
import { LocalReader } from "../local/local-reader.ts";
import type { Database, Executor, Session } from "../session.ts";
import { NoLocalFile } from "./no-local-file.ts";
import { ReplicaClient } from "./replica-client.ts";
import { ReplicaSync } from "./replica-sync.ts";
import { openServerClient, type ServerOptions } from "./server-client.ts";
import { runServerTransaction } from "./server-database.ts";

const everyMs = 1000;
const copies = 64;
const fileSuffixes = ["", "-wal", "-shm", "-client_wal_index"];
const foreignCopy = /log incompatible|Invalid meta|wal_index|Invalid log id/i;

interface ReplicaParts {
  client: ReplicaClient;
  sync: ReplicaSync;
  close: () => void;
}

/** An embedded replica behind the interface that services use; `primary` is for what must not be a moment old. */
export class ReplicaDatabase extends NoLocalFile implements Database {
  readonly kind = "replica";
  readonly #parts: ReplicaParts;

  constructor(parts: ReplicaParts) {
    super();
    this.#parts = parts;
  }

  get client(): Client {
    return this.#parts.client;
  }

  get primary(): Executor {
    return this.#parts.client.primary;
  }

  execute(stmt: InStatement): Promise<ResultSet> {
    return this.#parts.client.execute(stmt);
  }

  first(stmt: InStatement): Promise<Row | undefined> {
    return this.#parts.client.first(stmt);
  }

  batch(stmts: InStatement[], mode: "read" | "write" = "write"): Promise<ResultSet[]> {
    return this.#parts.client.batch(stmts, mode);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    const { client } = this.#parts;
    return client.afterWrite(runServerTransaction(client.primary, fn));
  }

  drain(): Promise<void> {
    return this.#parts.client.drain();
  }

  async close(): Promise<void> {
    if (this.#parts.client.closed) return;
    await this.drain();
    await this.#parts.sync.stop();
    this.#parts.client.close();
    this.#parts.close();
  }
}

/**
 * Opens the copy in the data directory and brings it up to date. Several processes keep a copy each, because two must
 * not write to one. Errors: unavailable when the primary cannot be reached, validationFailed for an unusable address.
 */
export async function openReplica(dataDir: string, options: ServerOptions): Promise<ReplicaDatabase> {
  const libsql = await loadLibsql();
  const primary = await openServerClient(options);
  // The engine reports a missing primary on stdout and late, so it is asked for in another way first.
  const isEmpty = (await primary.execute("SELECT 1 FROM sqlite_schema LIMIT 1")).rows.length === 0;
  makeDataDir(dataDir);
  const { path, lock } = takeCopy(libsql, dataDir);
  try {
    // From an empty primary the engine takes over nothing, not even that it is empty.
    if (isEmpty) removeCopy(path);
    const { engine, sync } = await openCopy(libsql, path, options);
    const reader = new LocalReader(libsql, path, options.lockDeadlineMs, { replica: true });
    const replicaSync = new ReplicaSync({ sync, ping: () => primary.execute("SELECT 1"), everyMs });
    const close = () => {
      engine.close();
      lock.close();
    };
    return new ReplicaDatabase({ client: new ReplicaClient(primary, reader, replicaSync), sync: replicaSync, close });
  } catch (error) {
    lock.close();
    primary.close();
    throw mapServerError(error);
  }
}

function takeCopy(libsql: Libsql, dataDir: string): { path: string; lock: FileLock } {
  for (let number = 1; number <= copies; number++) {
    const path = join(dataDir, number === 1 ? "replica.db" : `replica-${number}.db`);
    const lock = new FileLock(libsql, `${path}-lock`);
    if (lock.tryExclusive()) return { path, lock };
    lock.close();
  }
  throw unavailable("Too many processes keep a copy of the database in this directory.");
}

function removeCopy(path: string): void {
  for (const suffix of fileSuffixes) rmSync(path + suffix, { force: true });
}

async function openCopy(libsql: Libsql, path: string, options: ServerOptions, retry = true) {
  const syncNow = await loadSync();
  let engine: Engine | undefined;
  try {
    engine = new libsql(path, {
      syncUrl: options.url.replace(/^ws(s?):/, "http$1:"),
      authToken: options.authToken ?? "",
      readYourWrites: false,
    });
    await syncNow(engine);
  } catch (error) {
    engine?.close();
    // A copy of another database, or of one that was set up anew, is worth nothing: it is fetched again.
    if (!retry || !foreignCopy.test(String(error))) throw error;
    removeCopy(path);
    return openCopy(libsql, path, options, false);
  }
  for (const suffix of fileSuffixes) restrictFile(path + suffix);
  const opened = engine;
  return { engine: opened, sync: () => syncNow(opened) };
}
