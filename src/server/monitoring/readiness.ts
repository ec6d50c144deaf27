import { statfsSync } from "node:fs";
import { migrationStatus } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import { AppError, type FieldError, unavailable } from "../errors.ts";

/** With less room than this on the disk, writes begin to fail. */
const leastFreeBytes = 1_048_576;
const unanswered: FieldError = { field: "database", message: "The database does not answer." };

/** The database is given so long, so that whoever asks with a limit of five seconds still hears what is wrong. */
const maxMs = 3000;

/** What readiness is judged by. */
interface ReadinessDeps {
  db: Database;
  /** Whether the process has been asked to stop. */
  isDraining: () => boolean;
  /** Room on the disk of the database in bytes; null where it is elsewhere. */
  freeBytes: () => number | null;
  /** How long the database may take to answer, in milliseconds. */
  timeoutMs?: number;
}

/**
 * Whether this process can do its work.
 * @returns undefined when it can; otherwise a unavailable whose `details` name what is not ready: `server` (it is stopping),
 * `database`, `schema` or `disk`.
 */
type FindUnready = () => Promise<AppError | undefined>;

/** Everyone who asks while the database has not answered waits for the same question: they do not pile up at it. */
export function createReadiness({ db, isDraining, freeBytes, timeoutMs = maxMs }: ReadinessDeps): FindUnready {
  let judging: Promise<FieldError[]> | undefined;
  const judge = () => {
    const answer = judgeDatabase(db).finally(() => {
      judging = undefined;
    });
    const late = Promise.withResolvers<FieldError[]>();
    const timer = setTimeout(() => late.resolve([unanswered]), timeoutMs);
    return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
  };
  return async () => {
    if (isDraining()) return unready([{ field: "server", message: "The server is shutting down." }]);
    judging ??= judge();
    const parts = [...(await judging)];
    const free = freeBytes();
    if (free !== null && free < leastFreeBytes) parts.push({ field: "disk", message: "The disk is full." });
    return parts.length === 0 ? undefined : unready(parts);
  };
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
    return [error instanceof AppError ? { field: "database", message: error.message } : unanswered];
  }
}

function unready(parts: FieldError[]): AppError {
  return unavailable(parts.map(({ message }) => message).join(" "), { details: parts });
}
