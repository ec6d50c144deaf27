import { existsSync } from "node:fs";
import type { OfferedName } from "../../server/admin/complete-names.ts";
import { databaseFile } from "../../server/config/data-dir.ts";
import { withDatabase } from "../context/context.ts";
import { type DatabaseFlags, readDatabaseFlags } from "../context/read-config.ts";
import type { Console } from "../terminal/console.ts";

/**
 * The names of a kind in the database that the flags name; none where there is no database, and none is created.
 * @throws the errors of opening a database.
 */
export async function findNames(
  flags: DatabaseFlags,
  console: Console,
  wanted: { kind: string; prefix: string; namespace: string | undefined },
): Promise<OfferedName[]> {
  const { databaseUrl, dataDir } = readDatabaseFlags(flags, console);
  if (databaseUrl === undefined && !existsSync(databaseFile(dataDir))) return [];
  return withDatabase(flags, console, async (db) => {
    const { completeNames } = await import("../../server/admin/complete-names.ts");
    return completeNames(db, wanted);
  });
}
