import { existsSync } from "node:fs";
import type { OfferedName } from "../../server/admin/complete-names.ts";
import { type DatabaseFlags, withDatabase } from "../context/context.ts";
import { readCliConfig } from "../context/read-config.ts";
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
  const { databaseUrl, dataDir } = readCliConfig(flags, console);
  const { databaseFile } = await import("../../server/config/data-dir.ts");
  if (databaseUrl === undefined && !existsSync(databaseFile(dataDir))) return [];
  return withDatabase(flags, console, async (db) => {
    const { completeNames } = await import("../../server/admin/complete-names.ts");
    return completeNames(db, wanted);
  });
}
