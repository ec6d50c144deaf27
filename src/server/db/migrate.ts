import { createHash } from "node:crypto";
import type { InStatement } from "@libsql/core/api";
import { conflict, unavailable, wrongState } from "../errors.ts";
import { isUniqueViolation } from "./db-errors.ts";
import { backUpBefore } from "./local/backup.ts";
import { LocalDatabase } from "./local/local-database.ts";
import { loadMark, loadMarkMessage, loadMarkRemedy } from "./local/restore-marker.ts";
import { migrations as embedded, type Migration } from "./migrations.ts";
import type { Database } from "./session.ts";

export interface MigrateOptions {
  /** Other steps than the embedded ones, for tests. */
  migrations?: readonly Migration[];
  /** Epoch milliseconds. */
  now?: () => number;
}

/** One step as `db status` shows it; `appliedAt` is RFC 3339, null while it waits. */
export interface MigrationState {
  name: string;
  appliedAt: string | null;
  /** False for a step that only a newer program knows. */
  isKnown: boolean;
}

interface Applied {
  name: string;
  hash: string;
  applied_at: string;
}

/** SQL for the table in which the steps that a database has are written down. */
export const createMigrationsTable =
  "CREATE TABLE IF NOT EXISTS __bodega_migrations (name TEXT PRIMARY KEY NOT NULL, hash TEXT NOT NULL, applied_at TEXT NOT NULL)";
// A NULL hash breaks its NOT NULL and with it the whole transaction, also where no result can be looked at in between.
const assertForeignKeys = `UPDATE __bodega_migrations
  SET hash = CASE WHEN EXISTS (SELECT 1 FROM pragma_foreign_key_check) THEN NULL ELSE hash END
  WHERE name = ?`;

/**
 * Brings the schema up to date: all missing steps in one transaction, after a backup when there is data to lose. Of
 * several processes that start at once, one does the work and the others find it done. Returns the names of the steps
 * that this call applied. Errors: unavailable when the schema is newer than this program, a known step has changed, or the
 * result breaks a foreign key; conflict for another program's database, wrongState for one that is being restored.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const steps = options.migrations ?? embedded;
  const now = new Date((options.now ?? Date.now)());
  let pending = await findPending(db, steps);
  if (pending.length === 0) return { applied: [] };
  const { holdsData, isOurs, isMarked } = await inspect(db);
  if (isMarked) throw wrongState(loadMarkMessage, { remedy: loadMarkRemedy });
  if (holdsData && !isOurs) {
    throw conflict("The database holds the tables of another program. Choose another --data-dir or database.");
  }
  if (holdsData && db instanceof LocalDatabase) {
    await backUpBefore(db.local, (pending[0] as Migration).name, now);
  }
  try {
    await db.client.migrate(statementsFor(pending, now));
  } catch (error) {
    if (/NOT NULL constraint failed: __bodega_migrations\.hash/.test(String(error))) {
      throw unavailable("The migrations would leave rows that refer to missing ones; nothing was changed.", {
        cause: error,
      });
    }
    if (!isUniqueViolation(error, "__bodega_migrations.name")) throw error;
    pending = await findPending(db, steps);
    if (pending.length > 0) throw unavailable("Another process is migrating the database.", { cause: error });
    return { applied: [] };
  }
  return { applied: pending.map(({ name }) => name) };
}

/** All known steps, oldest first, then those that only a newer program knows. */
export async function migrationStatus(db: Database, steps: readonly Migration[] = embedded): Promise<MigrationState[]> {
  const applied = await readApplied(db);
  const known = steps.map(({ name }) => ({ name, appliedAt: applied.get(name)?.applied_at ?? null, isKnown: true }));
  const names = new Set(steps.map(({ name }) => name));
  const newer = [...applied.values()].filter(({ name }) => !names.has(name));
  return [...known, ...newer.map(({ name, applied_at }) => ({ name, appliedAt: applied_at, isKnown: false }))];
}

async function findPending(db: Database, steps: readonly Migration[]): Promise<Migration[]> {
  const applied = await readApplied(db);
  const names = new Set(steps.map(({ name }) => name));
  const unknown = [...applied.keys()].find((name) => !names.has(name));
  if (unknown !== undefined) {
    throw unavailable(
      `The database has the schema of a newer version (${unknown}). Run that version, or restore a backup from before it.`,
    );
  }
  for (const step of steps) {
    const found = applied.get(step.name);
    if (found !== undefined && found.hash !== hashMigration(step)) {
      throw unavailable(
        `The database was migrated with another form of ${step.name}. Run the version that made it, or restore a backup.`,
      );
    }
  }
  return steps.filter(({ name }) => !applied.has(name));
}

async function readApplied(db: Database): Promise<Map<string, Applied>> {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__bodega_migrations'";
  if ((await db.execute(table)).rows.length === 0) return new Map();
  const { rows } = await db.execute("SELECT name, hash, applied_at FROM __bodega_migrations ORDER BY name");
  return new Map(rows.map((row) => [row.name as string, row as unknown as Applied]));
}

/** What stands in the database, in one look: another process may be migrating it in this moment. */
async function inspect(db: Database): Promise<{ holdsData: boolean; isOurs: boolean; isMarked: boolean }> {
  const { rows } = await db.execute(`SELECT
    count(CASE WHEN name = '${loadMark}' THEN 1 END) AS marks,
    count(CASE WHEN name <> '__bodega_migrations' THEN 1 END) AS others,
    count(CASE WHEN name = '__bodega_migrations' THEN 1 END) AS ours
    FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'libsql%'`);
  return { holdsData: rows[0]?.others !== 0, isOurs: rows[0]?.ours !== 0, isMarked: rows[0]?.marks !== 0 };
}

// The row comes first: a process that lost the race fails at it before it touches anything.
function statementsFor(steps: Migration[], now: Date): InStatement[] {
  const appliedAt = now.toISOString();
  const insert = "INSERT INTO __bodega_migrations (name, hash, applied_at) VALUES (?, ?, ?)";
  const last = steps.at(-1) as Migration;
  return [
    createMigrationsTable,
    ...steps.flatMap((step): InStatement[] => [
      { sql: insert, args: [step.name, hashMigration(step), appliedAt] },
      ...splitMigration(step.sql),
    ]),
    { sql: assertForeignKeys, args: [last.name] },
  ];
}

/** The statements of a migration; only drizzle's breakpoints separate them, since triggers hold semicolons. */
export function splitMigration(sql: string): string[] {
  return sql
    .split("--> statement-breakpoint")
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

/** What tells a form of a step from another: SHA-256 of its SQL, in hex. */
export function hashMigration(step: Migration): string {
  return createHash("sha256").update(step.sql).digest("hex");
}
