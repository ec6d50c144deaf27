import { copyFileSync, createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Config } from "../../config/config.ts";
import { mergeWal } from "../../db/local/merge-wal.ts";
import { compareMigrations } from "../../db/migrate.ts";
import { errnoOf, notFound, validationFailed } from "../../errors.ts";
import { openStorage } from "../../object-store/open-storage.ts";
import { storageError } from "../../object-store/storage.ts";
import { unpackArchive } from "../archive.ts";
import { type BackupLocation, formatLocation, listBackups } from "../location.ts";
import type { Manifest } from "../manifest.ts";
import { inspectIntact, verifySchema } from "./inspect.ts";

export type FetchedBackup = Awaited<ReturnType<typeof verifyFetched>>;

export type FetchStep = { step: "reading"; done: number; total: number } | { step: "checking" };

interface FetchOptions {
  config: Pick<Config, "s3">;
  folder: string;
  newest?: boolean;
  onStep: (step: FetchStep) => void;
  signal: AbortSignal;
}

const sqliteHeader = "SQLite format 3\0";

/**
 * Reads and verifies a backup. `manifest` is null for a plain database file; `missing` lists migrations to be applied.
 * @throws validationFailed for a truncated, altered or damaged backup, or one of another program; unavailable if its
 * schema is newer than this program, or if it cannot be read; notFound for a missing backup.
 */
export async function fetchBackup(source: BackupLocation, options: FetchOptions): Promise<FetchedBackup> {
  const manifest = await unpack(source, join(options.folder, "bodega.db"), options);
  options.onStep({ step: "checking" });
  return verifyFetched(options.folder, manifest);
}

export async function verifyFetched(folder: string, manifest: Pick<Manifest, "created_at" | "version"> | null) {
  const databasePath = join(folder, "bodega.db");
  const { found: inspection, faults } = await inspectIntact(databasePath, "The database in the backup");
  verifySchema(inspection.schema, faults);
  await mergeWal(databasePath);
  const missing = compareMigrations(inspection.schema).pending.map(({ name }) => name);
  return { manifest, inspection, missing, folder, databasePath };
}

async function unpack(source: BackupLocation, databasePath: string, options: FetchOptions) {
  const { onStep, signal } = options;
  try {
    if (!source.place.startsWith("s3:")) {
      const path = formatLocation(source);
      const start = Bun.file(path).slice(0, sqliteHeader.length);
      // If the file cannot be read, the code below reads it again and reports the reason.
      if ((await start.text().catch(() => "")) === sqliteHeader) return await copyPlain(path, databasePath, options);
    }
    const { stream, bytes: total } = await openSource(source, options);
    const onBytes = (done: number) => onStep({ step: "reading", done, total });
    return await unpackArchive(stream, databasePath, { signal, onBytes });
  } catch (error) {
    throw signal.aborted ? error : storageError(error, formatLocation(source), "The backup cannot be unpacked:");
  }
}

async function openSource(source: BackupLocation, { config, newest: takesNewest }: FetchOptions) {
  const storage = openStorage(source.place, config);
  const address = formatLocation(source);
  try {
    if (source.name !== undefined) return await storage.read(source.name);
    const newest = (await listBackups(storage)).at(-1);
    if (takesNewest && newest !== undefined) return await storage.read(newest);
    const hint = newest === undefined ? "It has no backups." : `Newest backup: ${formatLocation(source, newest)}`;
    throw validationFailed(`${address} is a directory, not a backup. ${hint}`);
  } catch (error) {
    const isMissing = ["NoSuchKey", "ENOENT"].includes(errnoOf(error));
    if (isMissing) throw notFound("backup", address, { remedy: "Check the path." });
    throw storageError(error, address, "The backup cannot be read from");
  }
}

async function copyPlain(path: string, target: string, { onStep, signal }: FetchOptions) {
  onStep({ step: "reading", done: 0, total: statSync(path).size });
  await pipeline(createReadStream(path), createWriteStream(target, { flags: "wx", mode: 0o600 }), { signal });
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
  return null;
}
