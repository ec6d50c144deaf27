import { AppError } from "../../errors.ts";

const damageCodes = /^SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN|SCHEMA|ERROR|MISMATCH|FORMAT)/;

/**
 * What an error says of a database that cannot be read in part; undefined for what has nothing to do with it, such as a
 * lock or the network.
 */
export function describeDamage(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined || !damageCodes.test(code)) return undefined;
  const source = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
  const text = source.message.split("\n")[0] ?? "";
  return text.replace(/^(?:SQLITE_\w+: |SQLite error: |SqliteError: )+/, "").replace(/\.$/, "");
}

function codeOf(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown };
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  }
  return undefined;
}
