import { closeSync, openSync, readSync, statSync } from "node:fs";
import { sqliteCodeOf } from "../../db/db-errors.ts";
import { AppError, errnoOf } from "../../errors.ts";

const magic = "SQLite format 3\0";

/** Why a file cannot be opened as a database, without opening it; undefined when it can. */
export function findFileFault(path: string): string | undefined {
  const header = Buffer.alloc(magic.length);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return `${path} is ${stats.isDirectory() ? "a directory" : "not a file"}.`;
    if (stats.size === 0) return `${path} is empty: 0 bytes.`;
    const file = openSync(path, "r");
    readSync(file, header);
    closeSync(file);
  } catch (error) {
    return `${path} cannot be read (${errnoOf(error)}).`;
  }
  return header.toString("latin1") === magic ? undefined : `${path} is not a SQLite database.`;
}

const damageCodes = /^SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN|SCHEMA|ERROR|MISMATCH|FORMAT)/;

/** The reason of an error that shows a damaged database; undefined for others, such as a lock or the network. */
export function describeDamage(error: unknown): string | undefined {
  const code = sqliteCodeOf(error);
  if (code === undefined || !damageCodes.test(code)) return undefined;
  const source = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
  const text = source.message.split("\n")[0] ?? "";
  return text.replace(/^(?:SQLITE_\w+: |SQLite error: |SqliteError: )+/, "").replace(/\.$/, "");
}
