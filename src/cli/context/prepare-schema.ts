import { migrate, migrationStatus } from "../../server/db/migrate.ts";
import type { Database } from "../../server/db/session.ts";
import { wrongState } from "../../server/errors.ts";

/**
 * Gives a new database its schema, and leaves an older one alone: changing existing data is asked for by name.
 * @returns the migrations applied; none when the database was not new.
 * @throws wrongState when the schema is older than this program, unavailable when it is newer.
 */
export async function prepareSchema(db: Database): Promise<string[]> {
  const migrations = await migrationStatus(db);
  const waiting = migrations.filter(({ appliedAt }) => appliedAt === null).length;
  if (waiting > 0 && waiting < migrations.length) {
    throw wrongState("The database is older than this program. Bring it up to date with: bodega db migrate");
  }
  return (await migrate(db)).applied;
}
