import type { Config } from "../../config/config.ts";
import { openDatabase } from "../../db/open.ts";
import type { Database } from "../../db/session.ts";

/** Longer than a request waits: nobody's browser does. */
const lockDeadlineMs = 30_000;

/** Opens the database that is written to (a replica's file belongs to its server), and closes it whatever happens. */
export async function withPrimary<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const url = config.databaseUrl ?? config.databaseSyncUrl;
  const db = await openDatabase({
    dataDir: config.dataDir,
    ...(url !== undefined && { url }),
    ...(config.databaseAuthToken !== undefined && { authToken: config.databaseAuthToken }),
    lockDeadlineMs,
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
