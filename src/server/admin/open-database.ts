import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { locateFailure } from "../db/db-errors.ts";
import type { BeforeCommit } from "../db/group-commit/writer.ts";
import { type DatabaseOptions, openDatabase } from "../db/open.ts";
import type { Database } from "../db/session.ts";
import { attempt } from "../values/attempt.ts";

type Place = Pick<Config, "dataDir" | "databaseUrl" | "databaseAuthToken" | "databaseAuthTokenFile">;

/** How long a command waits for the write lock. A request waits for a shorter time. */
export const commandLockDeadlineMs = 30_000;

let loading: Promise<BeforeCommit> | undefined;

/** Loads the work that precedes the COMMIT of writes: linking rows of the audit log, and indexing products. */
async function loadBeforeCommit(): Promise<BeforeCommit> {
  const { auditLinking } = await import("../modules/audit/service.ts");
  const { searchIndexing } = await import("../modules/catalogue/list/search.ts");
  return {
    get reads() {
      return [auditLinking.read, searchIndexing.read];
    },
    finish: ([added, changed]) => [...auditLinking.finish(added), ...searchIndexing.finish(changed)],
  };
}

export function openStoreDatabase(options: DatabaseOptions): Promise<Database> {
  const beforeCommit = () => {
    loading ??= loadBeforeCommit();
    return loading;
  };
  return openDatabase({ beforeCommit, ...options });
}

/** Opens the database that a configuration names. Errors: as `openDatabase`. */
export function openConfiguredDatabase(
  { dataDir, databaseUrl, databaseAuthToken, databaseAuthTokenFile: file }: Place,
  options: Omit<DatabaseOptions, "dataDir" | "url" | "readToken"> = {},
): Promise<Database> {
  const readToken = () => (file && attempt(() => readFileSync(file, "utf8").trim())) || databaseAuthToken;
  return openStoreDatabase({ ...options, dataDir, url: databaseUrl, readToken });
}

/** Runs `work` on the database that a configuration names, then closes it. Errors: as `openDatabase`, as `work`. */
export async function withConfiguredDatabase<T>(config: Place, work: (db: Database) => Promise<T>): Promise<T> {
  let db: Database | undefined;
  try {
    db = await openConfiguredDatabase(config, { lockDeadlineMs: commandLockDeadlineMs });
    return await work(db);
  } catch (error) {
    throw locateFailure(error, config);
  } finally {
    await db?.close();
  }
}
