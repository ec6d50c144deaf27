import { statfsSync } from "node:fs";
import { withTimeout } from "../concurrency/with-timeout.ts";
import { migrationStatus } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import { AppError, type FieldError, unavailable } from "../errors.ts";
import { attempt } from "../values/attempt.ts";

const minFreeBytes = 1_048_576;
const unanswered: FieldError = { field: "database", message: "The database does not answer." };

/** Health probes usually wait five seconds. A shorter time limit lets them get a reply with the reason. */
const defaultTimeoutMs = 3000;

export interface ReadinessDeps {
  db: Database;
  isDraining: () => boolean;
  freeBytes: () => number | null;
  timeoutMs?: number;
}

/**
 * Creates the readiness check of this process. The check resolves to undefined when the process is ready, and otherwise
 * to an `unavailable` error, whose `details` name the parts: `server` (stopping), `database`, `schema` or `disk`.
 * Concurrent calls share a query.
 */
export function createReadiness({ db, isDraining, freeBytes, timeoutMs = defaultTimeoutMs }: ReadinessDeps) {
  let checking: Promise<FieldError[]> | undefined;
  return async (): Promise<AppError | undefined> => {
    if (isDraining()) return unready([{ field: "server", message: "The server is shutting down." }]);
    const answer = () => checkDatabase(db).finally(() => (checking = undefined));
    checking ??= withTimeout(answer(), timeoutMs).catch(() => [unanswered]);
    const parts = [...(await checking)];
    const free = freeBytes();
    if (free !== null && free < minFreeBytes) parts.push({ field: "disk", message: "The disk is full." });
    return parts.length === 0 ? undefined : unready(parts);
  };
}

/** Returns the bytes that are free for this account on the disk of a directory; null if they are unknown. */
export function freeDiskBytes(folder: string): number | null {
  const disk = attempt(() => statfsSync(folder));
  return disk ? disk.bavail * disk.bsize : null;
}

async function checkDatabase(db: Database): Promise<FieldError[]> {
  try {
    const [steps] = await Promise.all([migrationStatus(db), db.checkWrites()]);
    if (steps.every(({ appliedAt, isKnown }) => appliedAt !== null && isKnown)) return [];
    return [{ field: "schema", message: "The database has the schema of another version." }];
  } catch (error) {
    return [error instanceof AppError ? { field: "database", message: error.message } : unanswered];
  }
}

function unready(parts: FieldError[]): AppError {
  return unavailable(parts.map(({ message }) => message).join(" "), { details: parts });
}
