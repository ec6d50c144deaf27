import { AppError } from "../../errors.ts";
import type { CommandLine } from "../finding.ts";

const damageCodes = /^SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN|SCHEMA|ERROR|MISMATCH|FORMAT)/;

/** The reason of an error that shows a damaged database; undefined for others, such as a lock or the network. */
export function describeDamage(error: unknown): string | undefined {
  const code = findSqliteCode(error);
  if (code === undefined || !damageCodes.test(code)) return undefined;
  const source = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
  const text = source.message.split("\n")[0] ?? "";
  return text.replace(/^(?:SQLITE_\w+: |SQLite error: |SqliteError: )+/, "").replace(/\.$/, "");
}

/** What to do about a database that is damaged or is not one of this program. */
export function damageRemedy(kind: "file" | "server", command: CommandLine): string {
  return kind === "file"
    ? `Stop the server, keep a copy of the file, and restore the last backup with: ${command("db restore BACKUP")}`
    : "Stop all servers, and restore the last backup into a new, empty database with: bodega db restore BACKUP --database-url NEW";
}

function findSqliteCode(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown };
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  }
  return undefined;
}
