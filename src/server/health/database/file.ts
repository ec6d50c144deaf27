import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { sqliteCodeOf } from "../../db/db-errors.ts";
import { AppError, errnoOf } from "../../errors.ts";
import { formatBytes } from "../../values/bytes.ts";

const magic = "SQLite format 3\0";
const headerBytes = 100;

/** Why a file cannot be opened as a database, without opening it; undefined when it can. */
export function findFileFault(path: string): string | undefined {
  let stats: Stats;
  let header: Buffer;
  try {
    stats = statSync(path);
    if (!stats.isFile()) return `${path} is ${stats.isDirectory() ? "a directory" : "not a file"}.`;
    header = readHeader(path);
  } catch (error) {
    return `${path} cannot be read (${errnoOf(error)}).`;
  }
  if (stats.size === 0) return `${path} is empty: 0 bytes.`;
  if (header.subarray(0, magic.length).toString("latin1") !== magic) return `${path} is not a SQLite database.`;
  return undefined;
}

/** Why a damaged file is too short; undefined where it has the length that its header says. */
export function findTruncation(path: string): string | undefined {
  const header = readHeader(path);
  const { size } = statSync(path);
  // The field has 16 bits, and 1 means 65536.
  const field = header.readUInt16BE(16);
  const expected = (field === 1 ? 65_536 : field) * header.readUInt32BE(28);
  if (size >= expected) return undefined;
  return `${path} is truncated: it has ${formatBytes(size)} of ${formatBytes(expected)}.`;
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, headerBytes, 0);
    return header;
  } finally {
    closeSync(file);
  }
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
