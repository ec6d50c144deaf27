import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { databaseFile } from "../../config/data-dir.ts";
import { commandLockDeadlineMs, openConfiguredDatabase } from "../../db/open.ts";
import type { Database } from "../../db/session.ts";
import { unavailable } from "../../errors.ts";
import { describeDamageRemedy } from "../database/look-at-file.ts";
import type { Finding } from "./finding.ts";

/** The database of a configuration, or what keeps it from being opened. */
export interface Opened {
  db: Database | null;
  findings: Finding[];
}

/** Where a database is, without what a server's address may hold besides its host. */
export function describePlace({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === undefined ? databaseFile(dataDir) : new URL(databaseUrl).host;
}

/**
 * Opens a database to look at it: its files keep their modes. None is made where there is none, and nothing is thrown: what
 * is in the way is a finding.
 * @param timeoutMs how long a database server may take to answer.
 */
export async function openSubject(
  config: Config,
  { timeoutMs, command }: { timeoutMs: number; command(words: string): string },
): Promise<Opened> {
  const url = config.databaseUrl;
  const subject = describePlace(config);
  const failed = (message: string, remedy: string): Opened => ({
    db: null,
    findings: [{ severity: "error", subject, message, remedy }],
  });
  if (url === undefined && !existsSync(subject)) {
    // Where the folder is missing as well, that is told already.
    if (!existsSync(config.dataDir)) return { db: null, findings: [] };
    const message = `There is no database in ${config.dataDir}. Name its folder with --data-dir or BODEGA_DATA_DIR, or begin a new shop.`;
    return failed(message, command("init"));
  }
  let db: Database | undefined;
  try {
    db = await openConfiguredDatabase(config, { lockDeadlineMs: commandLockDeadlineMs, leaveModes: true });
    await withinPatience(db.execute("SELECT 1 FROM sqlite_schema LIMIT 1"), timeoutMs);
    return { db, findings: [] };
  } catch (error) {
    await db?.close().catch(() => {});
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unknown";
    return failed(`${subject}: ${reason}`, remedyFor(reason, url !== undefined, command));
  }
}

async function withinPatience<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable("The database does not answer.")), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function remedyFor(message: string, isServer: boolean, command: (words: string) => string): string {
  if (/token/.test(message)) return "Correct BODEGA_DATABASE_AUTH_TOKEN.";
  if (isServer) return "Start the database server, or correct its address in --database-url or BODEGA_DATABASE_URL.";
  if (/not a database|damaged/.test(message)) {
    return describeDamageRemedy("file", command);
  }
  if (/busy/.test(message)) return "Another program holds the file: end it, or wait for it.";
  return "See that the account of the server may read and write the folder and its files, and that the disk is sound.";
}
