import { LibsqlError } from "@libsql/core/api";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { AppError, unavailable } from "../errors.ts";

const messages: Record<string, string> = {
  SQLITE_BUSY: "The database is busy.",
  SQLITE_LOCKED: "The database is busy.",
  SQLITE_PROTOCOL: "The database is busy.",
  SQLITE_FULL: "The database's disk is full.",
  SQLITE_IOERR: "The database's disk cannot be read or written.",
  SQLITE_CANTOPEN: "The database file cannot be opened.",
  SQLITE_READONLY: "The database cannot be written.",
  SQLITE_NOTADB: "The database file is not a database.",
  SQLITE_CORRUPT: "The database file is damaged.",
  SQLITE_NOMEM: "The database is out of memory.",
  SQLITE_INTERRUPT: "The database call was interrupted.",
};
const networkText =
  /fetch failed|unable to connect|connection (?:was )?(?:closed|reset|refused)|socket|HTTP status \d+|timed out|tcp connect/i;
const networkCodes =
  /^(?:SERVER_ERROR|HRANA_\w+|STREAM_EXPIRED|TRANSACTION_\w+|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|E[A-Z_]+)$/;
const networkNames = /^(?:Timeout|Abort|Closed|WebSocket|HttpServer|Proto)Error$/;

interface CodedError extends Error {
  code?: string;
  rawCode?: number;
  extendedCode?: string;
}

/**
 * Maps an error of the database engine. Returns unavailable if a retry can help (a lock, the disk), and `LibsqlError`
 * for a statement that SQLite refused. The original error is the cause. Returns other errors unchanged.
 */
export function mapDbError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const coded = error as CodedError;
  // If the engine cannot open a file, its error has no code.
  const base = /^ConnectionFailed\(/.test(error.message) ? "SQLITE_CANTOPEN" : baseCode(coded);
  const message = base === undefined ? undefined : messages[base];
  if (message !== undefined) return unavailable(message, { cause: error, isInternal: true });
  if (coded.name === "SqliteError" && base !== undefined) {
    return new LibsqlError(error.message, base, coded.code, coded.rawCode, error);
  }
  return error;
}

/** Maps errors like `mapDbError`. Errors of the network or of the database server become unavailable, too. */
export function mapServerError(error: unknown): unknown {
  const mapped = mapDbError(error);
  const refused =
    /HTTP status 40[13]\b/.test(String(mapped)) || chainOf(mapped).some(({ code }) => /^AUTH_/.test(`${code}`));
  if (mapped instanceof AppError || !(refused || chainOf(mapped).some(isNetworkError))) return mapped;
  const message = refused ? "The database server refused its token." : "The database server cannot be reached.";
  return unavailable(message, { cause: error, isInternal: true });
}

const ownCodes = /^(?:SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG|UNKNOWN)|SQL_[A-Z_]+)/;

/** Whether the error ended only the failed statement, so that its transaction can continue. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && ownCodes.test((error as CodedError).code ?? "");
}

/** Whether another connection holds the lock. The same statement may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const pattern = /SQLITE_(?:BUSY|LOCKED)|database is locked/;
  return chainOf(error).some((one) => pattern.test(`${baseCode(one)} ${one.message}`));
}

/** Returns SQLite's code, such as `SQLITE_BUSY`, in an error or its causes; undefined if there is none. */
export function sqliteCodeOf(error: unknown): string | undefined {
  return chainOf(error).map(baseCode).find(Boolean);
}

/** Whether the database file is damaged, or is not a database. */
export function isDamaged(error: unknown): boolean {
  return chainOf(error).some((one) => ["SQLITE_CORRUPT", "SQLITE_NOTADB"].includes(baseCode(one) ?? ""));
}

/** Whether a unique or primary key was violated. With `column` (`table.column`), only a key with this column counts. */
export function isUniqueViolation(error: unknown, column?: string): boolean {
  return violates(error, /UNIQUE constraint failed: ([^\n]*)/, column);
}

/** Whether a CHECK or NOT NULL failed. With `name`, only that constraint or column (`table.column`) counts. */
export function isCheckViolation(error: unknown, name?: string): boolean {
  return violates(error, /(?:CHECK|NOT NULL) constraint failed: ([^\n]*)/, name);
}

/** Whether a row would refer to a missing row. */
export function isForeignKeyViolation(error: unknown): boolean {
  return chainOf(error).some((one) => /FOREIGN KEY constraint failed/.test(one.message));
}

// The file engine and the server nest errors differently, so all causes are searched for the text of the constraint.
function violates(error: unknown, pattern: RegExp, subject: string | undefined): boolean {
  return chainOf(error).some((one) => {
    const found = pattern.exec(one.message)?.[1];
    if (found === undefined || one instanceof AppError) return false;
    return subject === undefined || found.split(/[,\s]+/).includes(subject) || found.trim() === subject;
  });
}

function chainOf(error: unknown): CodedError[] {
  const chain: CodedError[] = [];
  for (let one = error; one instanceof Error && chain.length < 8; one = one.cause) chain.push(one);
  return chain;
}

function baseCode(error: CodedError): string | undefined {
  if (typeof error.code !== "string" || !error.code.startsWith("SQLITE_")) return undefined;
  return error.code.split("_").slice(0, 2).join("_");
}

function isNetworkError(error: CodedError): boolean {
  if (networkNames.test(error.name)) return true;
  if (typeof error.code === "string" && networkCodes.test(error.code)) return true;
  return baseCode(error) === undefined && networkText.test(error.message);
}

type Place = Pick<Config, "dataDir" | "databaseUrl">;

/** Returns a command for a remedy. The command gets the flags that name the database in use. */
export type CommandLine = (words: string) => string;

/** Names the configured database: returns the path of its file or the host of its server. */
export function nameDatabase({ databaseUrl, dataDir }: Place): string {
  return databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).host : databaseFile(dataDir);
}

/** Returns the remedy for a database that is damaged or belongs to another program. */
export function damageRemedy(kind: "file" | "server", command: CommandLine): string {
  return kind === "file"
    ? `Stop the server, keep a copy of the file, and restore the last backup with: ${command("db restore BACKUP")}`
    : "Stop all servers, and restore the last backup into a new, empty database with: bodega db restore BACKUP --database-url NEW";
}

/** Adds the database's name and a remedy to an internal error, for the terminal. Returns other errors unchanged. */
export function locateFailure(error: unknown, place: Place, command: CommandLine = (words) => `bodega ${words}`) {
  if (!(error instanceof AppError && error.isInternal) || error.remedy !== undefined) return error;
  const remedy = remedyFor(error.message, place, command);
  return unavailable(`${nameDatabase(place)}: ${error.message}`, { remedy, cause: error, isInternal: true });
}

function remedyFor(message: string, { databaseUrl }: Place, command: CommandLine): string {
  if (/token/.test(message)) return "Correct BODEGA_DATABASE_AUTH_TOKEN.";
  if (/commits no writes/.test(message)) return "Check the disk of the database server, then restart the server.";
  if (databaseUrl !== undefined) {
    return "Start the database server, or correct its address in --database-url or BODEGA_DATABASE_URL.";
  }
  if (/not a database|damaged/.test(message)) return damageRemedy("file", command);
  if (/busy/.test(message)) return "Another program has locked the file. Stop that program, or wait.";
  return `Check the disk, and that this account can read and write the file: ${command("doctor")}`;
}

/** Repeats `work` with short pauses while the database is locked, for at most `timeoutMs`. Maps its errors. */
export async function retryWhileBusy<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw mapServerError(error);
    }
    await Bun.sleep(1 + Math.random() * 9);
  }
}
