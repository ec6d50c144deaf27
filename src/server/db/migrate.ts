import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InStatement, Row } from "@libsql/core/api";
import initial from "../../../drizzle/0000_initial.sql" with { type: "text" };
import sale from "../../../drizzle/0001_sale.sql" with { type: "text" };
import noRejectedOrigins from "../../../drizzle/0002_no_rejected_origins.sql" with { type: "text" };
import nameRates from "../../../drizzle/0003_name_rates.sql" with { type: "text" };
import payments from "../../../drizzle/0004_payments.sql" with { type: "text" };
import mailCauses from "../../../drizzle/0005_mail_causes.sql" with { type: "text" };
import invoices from "../../../drizzle/0006_invoices.sql" with { type: "text" };
import acme from "../../../drizzle/0007_acme.sql" with { type: "text" };
import storeMails from "../../../drizzle/0008_store_mails.sql" with { type: "text" };
import discountUses from "../../../drizzle/0009_discount_uses.sql" with { type: "text" };
import checkoutColumns from "../../../drizzle/0010_checkout_columns.sql" with { type: "text" };
import refundParts from "../../../drizzle/0011_refund_parts.sql" with { type: "text" };
import checkoutProcessing from "../../../drizzle/0012_checkout_processing.sql" with { type: "text" };
import unreadColumns from "../../../drizzle/0013_unread_columns.sql" with { type: "text" };
import { AppError, conflict, unavailable, wrongState } from "../errors.ts";
import { isUniqueViolation } from "./db-errors.ts";
import { Connection } from "./local/connection.ts";
import { FileDatabase } from "./local/file-database.ts";
import { FileLock, lockFile } from "./local/file-lock.ts";
import { loadLibsql } from "./local/load-libsql.ts";
import { syncFile } from "./local/sync-file.ts";
import type { Database, Executor } from "./session.ts";

export interface Migration {
  name: string;
  sql: string;
}

/** All migrations, oldest first. List each new file of drizzle/ here, so that the executable embeds the file. */
export const migrations: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_sale", sql: sale },
  { name: "0002_no_rejected_origins", sql: noRejectedOrigins },
  { name: "0003_name_rates", sql: nameRates },
  { name: "0004_payments", sql: payments },
  { name: "0005_mail_causes", sql: mailCauses },
  { name: "0006_invoices", sql: invoices },
  { name: "0007_acme", sql: acme },
  { name: "0008_store_mails", sql: storeMails },
  { name: "0009_discount_uses", sql: discountUses },
  { name: "0010_checkout_columns", sql: checkoutColumns },
  { name: "0011_refund_parts", sql: refundParts },
  { name: "0012_checkout_processing", sql: checkoutProcessing },
  { name: "0013_unread_columns", sql: unreadColumns },
];

/** A table that the database of a libSQL server has during a restore. A database with this table must not be used. */
export const restoreMarker = "__bodega_load";

export const restoreRunning = () =>
  wrongState("A restore into this database is running, or was interrupted.", {
    remedy: "Wait until the restore ends. If none is running, start the restore again: bodega db restore <backup>",
  });

const lockTimeoutMs = 30_000;

interface Applied {
  name: string;
  hash: string;
  applied_at: string;
}

export const createMigrationsTable =
  "CREATE TABLE IF NOT EXISTS __bodega_migrations (name TEXT PRIMARY KEY NOT NULL, hash TEXT NOT NULL, applied_at TEXT NOT NULL)";
// If a foreign key is broken, setting the hash to NULL makes the transaction fail. A query would not be enough, because
// a libSQL server answers it only after the COMMIT.
const assertForeignKeys = `UPDATE __bodega_migrations
  SET hash = CASE WHEN EXISTS (SELECT 1 FROM pragma_foreign_key_check) THEN NULL ELSE hash END
  WHERE name = ?`;

/**
 * Applies all pending migrations in one transaction. If there is data to lose, a backup is made first. If several
 * processes start at once, one of them migrates and the others wait.
 * @param known migrations to use instead of this program's, for tests.
 * @returns the names of the migrations that this call applied.
 * @throws unavailable if the schema is newer than this program, an applied migration has changed, or the result breaks
 * a foreign key; conflict for the database of another program; wrongState during a restore.
 */
export async function migrate(db: Database, known = migrations, now = new Date()): Promise<{ applied: string[] }> {
  if ((await findPending(db, known)).length === 0) return { applied: [] };
  // The lock keeps other processes from migrating the file between the backup and the first statement.
  const path = db instanceof FileDatabase ? join(dirname(db.path), "migration.lock") : undefined;
  const lock = path && (await lockFile(path, lockTimeoutMs));
  if (lock === null) throw alreadyMigrating();
  try {
    return await migrateLocked(db, known, now);
  } finally {
    if (lock) lock.close();
  }
}

async function migrateLocked(db: Database, known: readonly Migration[], now: Date): Promise<{ applied: string[] }> {
  const pending = await findPending(db, known);
  if (pending.length === 0) return { applied: [] };
  const { holdsData, isOurs, hasMarker } = await inspect(db);
  if (hasMarker) throw restoreRunning();
  if (holdsData && !isOurs) {
    throw conflict("The database contains tables of another program. Choose another --data-dir or database.");
  }
  if (holdsData && db instanceof FileDatabase) {
    const dir = join(dirname(db.path), "backups");
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
    await copyDatabase(db.path, join(dir, `before-${pending[0]?.name}-${time}.db`));
  }
  try {
    await db.migrate(statementsFor(pending, now));
  } catch (error) {
    if (/NOT NULL constraint failed: __bodega_migrations\.hash/.test(String(error))) {
      throw unavailable("The migrations failed, because rows would refer to missing rows. Nothing was changed.", {
        cause: error,
      });
    }
    // If two processes migrate a libSQL server at once, the first INSERT of the second process fails. That is no error.
    if (!isUniqueViolation(error, "__bodega_migrations.name")) throw error;
    if ((await findPending(db, known)).length > 0) throw alreadyMigrating(error);
    return { applied: [] };
  }
  return { applied: pending.map(({ name }) => name) };
}

function alreadyMigrating(cause?: unknown): AppError {
  return unavailable("Another process is migrating the database. Try again when it has finished.", { cause });
}

/**
 * Lists the migrations of this program, oldest first, then applied migrations that this program lacks. `appliedAt` is
 * null for a pending migration. `isKnown` is false for a migration that this program lacks or has with other SQL.
 */
export async function migrationStatus(db: Database, steps: readonly Migration[] = migrations) {
  const applied = await appliedIn(db);
  const { newer, altered } = compareMigrations(applied.values(), steps);
  const names = [...steps.map(({ name }) => name), ...newer];
  const isKnown = (name: string) => !newer.includes(name) && !altered.includes(name);
  return names.map((name) => ({ name, appliedAt: applied.get(name)?.applied_at ?? null, isKnown: isKnown(name) }));
}

/** Lists the migrations that this program would apply. Throws unavailable if the schema is of a newer or other build. */
export async function findPending(db: Database, steps = migrations): Promise<Migration[]> {
  const { pending, newer, altered } = compareMigrations((await appliedIn(db)).values(), steps);
  if (newer[0] !== undefined) {
    throw unavailable(
      `This build of Bodega does not know migration ${newer[0]} of the database. Run a newer build, or restore an older backup.`,
    );
  }
  if (altered[0] === undefined) return pending;
  throw unavailable(
    `Another build of Bodega applied migration ${altered[0]} with other SQL. Run that build, or restore a backup.`,
  );
}

/** Returns pending migrations (`pending`), and the names of applied ones that are unknown or have other SQL here. */
export function compareMigrations(applied: Iterable<Pick<Applied, "name" | "hash">>, steps = migrations) {
  const hashes = new Map([...applied].map(({ name, hash }) => [name, hash]));
  const known = new Map(steps.map((step) => [step.name, hashMigration(step)]));
  const names = [...hashes.keys()];
  return {
    pending: steps.filter(({ name }) => !hashes.has(name)),
    newer: names.filter((name) => !known.has(name)),
    altered: names.filter((name) => known.has(name) && known.get(name) !== hashes.get(name)),
  };
}

const appliedIn = (db: Executor) => readApplied(async (sql) => (await db.execute(sql)).rows);

export async function readApplied(query: (sql: string) => Promise<Row[]>): Promise<Map<string, Applied>> {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__bodega_migrations'";
  if ((await query(table)).length === 0) return new Map();
  const rows = await query("SELECT name, hash, applied_at FROM __bodega_migrations ORDER BY name");
  return new Map(rows.map((row) => [row.name as string, row as unknown as Applied]));
}

/** Returns when the database was first migrated, as RFC 3339. This time identifies the database and all its copies. */
export async function readBirth(db: Executor): Promise<string> {
  const { rows } = await db.execute("SELECT min(applied_at) AS at FROM __bodega_migrations");
  return String(rows[0]?.at);
}

/** Reads facts about the tables in one query, because another process may be migrating a server's database. */
async function inspect(db: Database): Promise<{ holdsData: boolean; isOurs: boolean; hasMarker: boolean }> {
  const { rows } = await db.execute(`SELECT
    count(CASE WHEN name = '${restoreMarker}' THEN 1 END) AS marks,
    count(CASE WHEN name <> '__bodega_migrations' THEN 1 END) AS others,
    count(CASE WHEN name = '__bodega_migrations' THEN 1 END) AS ours
    FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'libsql%'`);
  return { holdsData: rows[0]?.others !== 0, isOurs: rows[0]?.ours !== 0, hasMarker: rows[0]?.marks !== 0 };
}

// The row of a migration is inserted first, so that a second process fails before it changes anything.
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

/** Splits a migration at drizzle's breakpoints, because triggers contain semicolons. */
export function splitMigration(sql: string): string[] {
  return sql
    .split("--> statement-breakpoint")
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

function hashMigration(step: Migration): string {
  return createHash("sha256").update(step.sql).digest("hex");
}

/** Copies a database file that others may be using. Blocks the process. The copy gets its name when it is on disk. */
export async function copyDatabase(path: string, target: string): Promise<void> {
  const libsql = await loadLibsql();
  const lock = new FileLock(libsql, `${path}-readers`);
  while (!lock.tryShared()) await Bun.sleep(10);
  const connection = new Connection(libsql, path, { busyTimeoutMs: 5000 });
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  try {
    closeSync(openSync(partial, "w", 0o600));
    connection.run("VACUUM INTO ?", [partial]);
    // VACUUM INTO does not sync the file to the disk, so this is done here.
    syncFile(partial);
    renameSync(partial, target);
    syncFile(dirname(target));
  } catch (error) {
    rmSync(partial, { force: true });
    throw error instanceof AppError ? error : unavailable(`The backup ${target} cannot be written.`, { cause: error });
  } finally {
    connection.close();
    lock.close();
  }
}
