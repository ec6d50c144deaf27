import type { Database } from "../db/session.ts";
import type { CopyOptions, CopyReport } from "./copy-options.ts";

/**
 * Looks whether a libSQL server's database may be filled from a file: it is empty, has the schema and no stores, or holds
 * what a load that was cut short has left.
 * @throws AppError 5302 when it holds anything else.
 */
export async function assertLoadable(_db: Database): Promise<void> {
  throw new Error("not written yet");
}

/**
 * Fills a libSQL server's database with what a sound SQLite file of ours holds, in portions. Until it is done no server
 * takes the database for one of its own; what a load that was cut short has left is removed first.
 * @param sourcePath a file that nobody writes to meanwhile.
 * @throws AppError 5302 as `assertLoadable`; 5001 when the server cannot be reached; the signal's reason.
 */
export async function loadDatabase(
  _sourcePath: string,
  _db: Database,
  _options: CopyOptions = {},
): Promise<CopyReport> {
  throw new Error("not written yet");
}
