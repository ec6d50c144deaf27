import { statfsSync } from "node:fs";
import { migrationStatus } from "./db/migrate.ts";
import type { Database } from "./db/session.ts";
import { AppError, type FieldError } from "./errors.ts";

/** With less room than this on the disk, writes begin to fail. */
const leastFreeBytes = 1_048_576;

/** What readiness is judged by. */
export interface ReadinessDeps {
  db: Database;
  /** Whether the process has been asked to stop. */
  isDraining: () => boolean;
  /** Room on the disk of the database in bytes; null where it is elsewhere. */
  freeBytes: () => number | null;
}

/**
 * Whether this process can do its work.
 * @returns undefined when it can; otherwise a 5001 whose `details` name what is not ready: `server` (it is stopping),
 * `database`, `schema` or `disk`.
 */
export async function findUnready(deps: ReadinessDeps): Promise<AppError | undefined> {
  if (deps.isDraining()) return unready([{ field: "server", message: "The server is shutting down." }]);
  const parts = await judgeDatabase(deps.db);
  const free = deps.freeBytes();
  if (free !== null && free < leastFreeBytes) parts.push({ field: "disk", message: "The disk is full." });
  return parts.length === 0 ? undefined : unready(parts);
}

/** Room on the disk that holds a folder, for this account; null where the system does not say. */
export function freeDiskBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

async function judgeDatabase(db: Database): Promise<FieldError[]> {
  try {
    const steps = await migrationStatus(db);
    if (steps.every(({ appliedAt, isKnown }) => appliedAt !== null && isKnown)) return [];
    return [{ field: "schema", message: "The database has the schema of another version." }];
  } catch (error) {
    const message = error instanceof AppError ? error.message : "The database does not answer.";
    return [{ field: "database", message }];
  }
}

function unready(parts: FieldError[]): AppError {
  return new AppError(5001, parts.map(({ message }) => message).join(" "), { details: parts });
}
