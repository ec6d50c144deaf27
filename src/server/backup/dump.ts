import type { Database } from "../db/session.ts";
import type { CopyOptions, CopyReport } from "./copy-options.ts";

/**
 * Writes everything that a libSQL server holds at one moment into a new SQLite file, with the same schema, while others
 * go on writing there. For an embedded replica it is the primary that is read.
 * @param targetPath a file that is not there yet; it is whole and on disk when the promise resolves, and gone when it
 * rejects.
 * @throws AppError 5001 when the server cannot be reached or the file cannot be written; the signal's reason.
 */
export async function dumpDatabase(
  _db: Database,
  _targetPath: string,
  _options: CopyOptions = {},
): Promise<CopyReport> {
  throw new Error("not written yet");
}
