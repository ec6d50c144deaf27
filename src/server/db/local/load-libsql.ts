import { unavailable } from "../../errors.ts";
import type { BoundValue } from "../bind-args.ts";

/** A prepared statement of the engine; with `raw`, its rows are arrays. */
export interface EngineStatement {
  readonly reader: boolean;
  run(args: BoundValue[]): { changes: number };
  get(args: BoundValue[]): unknown[] | undefined;
  all(args: BoundValue[]): unknown[][];
  raw(on: boolean): this;
  safeIntegers(on: boolean): this;
  columns(): { name: string }[];
}

/** A connection of the engine. The package has no types for these methods. */
export interface Engine {
  readonly inTransaction: boolean;
  prepare(sql: string): EngineStatement;
  exec(sql: string): void;
  close(): void;
}

export type Libsql = new (path: string, options: { timeout?: number }) => Engine;

let loaded: Promise<Libsql> | undefined;

/** Loads the engine at its first use, because help and version do not need it. Errors: unavailable, with a remedy. */
export function loadLibsql(): Promise<Libsql> {
  loaded ??= import("libsql").then(
    (module) => module.default as unknown as Libsql,
    (error) => {
      // The error is cached, because a second import would return an empty module.
      throw loadFailure(error);
    },
  );
  return loaded;
}

/** Returns the error to show for a failed load. Exported for its test. */
export function loadFailure(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== "ERR_DLOPEN_FAILED" && !/dlopen|\.node\b/.test(message ?? "")) return error;
  return unavailable(
    "The database engine could not be loaded, because it could not be unpacked into the temporary directory. " +
      "Set BUN_TMPDIR to a directory that can be written and that allows programs to run.",
    { cause: error },
  );
}
