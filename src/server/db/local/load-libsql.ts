import { unavailable } from "../../errors.ts";
import type { BoundValue } from "../bind-args.ts";

/** A prepared statement of the engine; with `raw`, its rows are arrays. */
export interface EngineStatement {
  readonly reader: boolean;
  run(args: BoundValue[]): { changes: number; lastInsertRowid: number };
  get(args: BoundValue[]): unknown[] | undefined;
  all(args: BoundValue[]): unknown[][];
  raw(on: boolean): this;
  safeIntegers(on: boolean): this;
  columns(): { name: string; type: string | null }[];
}

/** A connection of the engine. Its own types describe another library's interface, so ours say what we use. */
export interface Engine {
  readonly inTransaction: boolean;
  prepare(sql: string): EngineStatement;
  exec(sql: string): void;
  close(): void;
  sync(): unknown;
}

/** Opens a connection; `syncUrl` makes the file a copy of that server's database. */
export type Libsql = new (
  path: string,
  options: { timeout?: number; syncUrl?: string; authToken?: string; readYourWrites?: boolean },
) => Engine;

let loaded: Promise<Libsql> | undefined;

/**
 * Loads the database engine when a database is first opened, so that help and version need no unpacked add-on.
 * Errors: unavailable whose message says what to do when the add-on cannot be unpacked.
 */
export function loadLibsql(): Promise<Libsql> {
  loaded ??= import("libsql").then(
    (module) => module.default as unknown as Libsql,
    (error) => {
      loaded = undefined;
      throw loadFailure(error);
    },
  );
  return loaded;
}

/**
 * Loads the engine's way to synchronise a replica on a thread of its own; the engine's plain `sync` would stop this
 * process for as long as the network takes. Its class cannot open replicas itself in this version, but its method works
 * on a connection that the other class has opened.
 */
export async function loadSync(): Promise<(engine: Engine) => Promise<unknown>> {
  const { default: AsyncEngine } = (await import("libsql/promise")) as unknown as {
    default: { prototype: { sync(this: Engine): Promise<unknown> } };
  };
  return (engine) => AsyncEngine.prototype.sync.call(engine);
}

/** The error to show for a failed load; exported for its test. */
export function loadFailure(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== "ERR_DLOPEN_FAILED" && !/dlopen|\.node\b/.test(message ?? "")) return error;
  return unavailable(
    "The database engine could not be loaded, because it could not be unpacked into the temporary directory. " +
      "Set BUN_TMPDIR to a directory that can be written and that allows programs to run.",
    { cause: error },
  );
}
