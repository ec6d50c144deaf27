import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { AppError, unavailable } from "../errors.ts";

type Place = Pick<Config, "dataDir" | "databaseUrl">;

/**
 * Builds a command line for a remedy: `db migrate` becomes `bodega db migrate --data-dir /srv/shop`, with the flags of
 * the present command that name the database.
 */
export type CommandLine = (words: string) => string;

/** The database of a configuration, as people name it: the path of the file or the host of the server. */
export function nameDatabase({ databaseUrl, dataDir }: Place): string {
  return databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).host : databaseFile(dataDir);
}

/** The remedy for a database that is damaged or is not one of this program. */
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
  if (databaseUrl !== undefined) {
    return "Start the database server, or correct its address in --database-url or BODEGA_DATABASE_URL.";
  }
  if (/not a database|damaged/.test(message)) return damageRemedy("file", command);
  if (/busy/.test(message)) return "Another program has locked the file. Stop it, or wait.";
  return `Check the disk, and that this account can read and write the file: ${command("doctor")}`;
}
