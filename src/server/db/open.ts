import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { loadLibsql } from "./load-libsql.ts";
import { LocalClient } from "./local-client.ts";
import { LocalDatabase } from "./local-database.ts";
import type { Database } from "./session.ts";

/** Which database to open. */
export interface DatabaseOptions {
  /** Directory of the local files; created with mode 0700. */
  dataDir: string;
  /** A libSQL server (`http:`, `https:`, `libsql:`), or `:memory:` for tests; without it, the file in `dataDir`. */
  url?: string;
  authToken?: string;
  /** The primary of an embedded replica that lives in `dataDir`. */
  syncUrl?: string;
  /** How long a write waits for the lock, in milliseconds: 5000 in the server, 30000 in commands. */
  lockDeadlineMs?: number;
}

/** Opens the database that the options name. Errors: 5001 when it cannot be opened, 5102 for an unusable address. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url === ":memory:") return openMemory(options);
  if (options.url !== undefined) throw new AppError(5102, "The database address must be http:, https: or libsql:.");
  return openFile(options);
}

async function openFile(options: DatabaseOptions): Promise<Database> {
  const libsql = await loadLibsql();
  makeDataDir(options.dataDir);
  const path = join(options.dataDir, "bodega.db");
  const client = new LocalClient(libsql, path, queueOptions(options));
  // SQLite gives the log and its index the mode of the file, so the first creation decides for all three.
  for (const suffix of ["", "-wal", "-shm"]) restrict(path + suffix);
  return new LocalDatabase(libsql, client, { kind: "file" });
}

// A private file behaves like the real thing in every respect; SQLite's own `:memory:` knows neither WAL nor readers.
async function openMemory(options: DatabaseOptions): Promise<Database> {
  const libsql = await loadLibsql();
  const dir = mkdtempSync(join(tmpdir(), "bodega-memory-"));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once("exit", remove);
  const client = new LocalClient(libsql, join(dir, "bodega.db"), queueOptions(options));
  return new LocalDatabase(libsql, client, {
    kind: "memory",
    afterClose: () => {
      process.off("exit", remove);
      remove();
    },
  });
}

function queueOptions(options: DatabaseOptions) {
  return options.lockDeadlineMs === undefined ? {} : { lockDeadlineMs: options.lockDeadlineMs };
}

/** Creates the data directory, readable by its owner only. Errors: 5001 when that is impossible. */
export function makeDataDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new AppError(5001, `The data directory ${dir} cannot be created.`, { cause });
  }
}

function restrict(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The log may not exist yet, and a file of another owner keeps the mode that this owner chose.
  }
}
