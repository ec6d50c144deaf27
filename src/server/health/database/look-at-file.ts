import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { formatBytes } from "../../values/bytes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import type { CheckupDeps, Finding } from "../environment/finding.ts";
import { formatMode } from "../environment/wording.ts";

const magic = "SQLite format 3\0";
const headerBytes = 100;

/** What to do about a database that is damaged, or none of ours. */
export function describeDamageRemedy(kind: "file" | "server", command: CheckupDeps["command"]): string {
  return kind === "file"
    ? `Stop the server, keep a copy of the file, and restore the last backup with: ${command("db restore BACKUP")}`
    : "Stop every server, and restore the last backup into a new, empty database with: bodega db restore BACKUP --database-url NEW";
}

/** What a file is before it is opened as a database. */
export interface FileLook {
  findings: Finding[];
  /** Whether it can be opened at all. */
  isDatabase: boolean;
}

/** Looks at the outside of a database file: that it is a file, begins as a database does, and is nobody else's to read. */
export function lookAtFile(path: string, command: CheckupDeps["command"]): FileLook {
  const broken = (message: string): FileLook => ({ findings: [fileError(path, message, command)], isDatabase: false });
  let stats: Stats;
  let header: Buffer;
  try {
    stats = statSync(path);
    if (!stats.isFile()) return broken(`${path} is ${stats.isDirectory() ? "a folder" : "no file"}, not a database.`);
    header = readHeader(path);
  } catch (error) {
    return broken(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
  if (stats.size === 0) return broken(`${path} is empty: 0 bytes.`);
  if (header.subarray(0, magic.length).toString("latin1") !== magic) return broken(`${path} is no SQLite database.`);
  return { findings: describeModes(path), isDatabase: true };
}

/** What the length of a damaged file says of the damage; undefined where it has the length that it says itself. */
export function describeLength(path: string): string | undefined {
  const header = readHeader(path);
  const { size } = statSync(path);
  // 1 stands for the one size that the field has no room for.
  const field = header.readUInt16BE(16);
  const expected = (field === 1 ? 65_536 : field) * header.readUInt32BE(28);
  if (size >= expected) return undefined;
  return `It has ${formatBytes(size)} of ${formatBytes(expected)}: its end is missing.`;
}

/** A finding about the file as a whole. */
export function fileError(path: string, message: string, command: CheckupDeps["command"]): Finding {
  return { severity: "error", subject: path, message, remedy: describeDamageRemedy("file", command) };
}

function describeModes(path: string): Finding[] {
  const open = ["", "-wal", "-shm"].filter((suffix) => {
    const mode = statSync(path + suffix, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o077) !== 0;
  });
  return open.map((suffix): Finding => {
    const file = path + suffix;
    const mode = formatMode(statSync(file, { throwIfNoEntry: false })?.mode ?? 0);
    const message = `Other accounts of this machine may get at ${file} (mode ${mode}).`;
    return { severity: "warning", subject: file, message, remedy: `chmod 600 ${quoteWord(file)}` };
  });
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
