import { createHash, randomUUID } from "node:crypto";
import { accessSync, constants, createReadStream, mkdirSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { withConfiguredDatabase } from "../admin/open-database.ts";
import type { Config } from "../config/config.ts";
import { databaseFile, makeDataDir, removeIfPossible } from "../config/data-dir.ts";
import type { Actor } from "../context.ts";
import { isDamaged } from "../db/db-errors.ts";
import { FileLock } from "../db/local/file-lock.ts";
import { loadLibsql } from "../db/local/load-libsql.ts";
import { AppError } from "../errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { openStorage } from "../object-store/open-storage.ts";
import { type ObjectStorage, storageError } from "../object-store/storage.ts";
import { packArchive, peekManifest } from "./archive.ts";
import { copyLive } from "./copy/copy-live.ts";
import { dumpDatabase } from "./copy/dump.ts";
import {
  type BackupLocation,
  backupsFolder,
  formatLocation,
  listBackups,
  makeBackupName,
  makeBackupsFolder,
  recordResult,
} from "./location.ts";
import { damaged, type Manifest } from "./manifest.ts";
import { type Inspection, inspectIntact } from "./restore/inspect.ts";
import { removeStaleRestores } from "./restore/temp-dir.ts";

export interface BackupStep {
  step: "waiting" | "copying" | "checking" | "packing";
  done?: number;
  total?: number;
}

export type BackupReport = Awaited<ReturnType<typeof writeBackup>>;

interface BackupOptions {
  location: BackupLocation;
  /** How many backups of this database to keep in the location; undefined keeps all. */
  keep: number | undefined;
  version: string;
  actor: Actor;
  onStep: (step: BackupStep) => void;
  signal: AbortSignal;
}

/**
 * Makes a backup and records the result. Verifying it blocks the process, so a server makes backups in a child process.
 * @throws unavailable when the location or the disk cannot be used, validationFailed when the copy is damaged.
 */
export async function makeBackup(config: Config, options: BackupOptions): Promise<BackupReport> {
  const at = () => new Date().toISOString();
  try {
    const report = await writeBackup(config, options);
    const success = { at: at(), place: report.backup, bytes: report.bytes };
    recordResult(config.dataDir, "backup", { last_success: success, last_failure: null });
    return report;
  } catch (error) {
    if (error instanceof AppError)
      recordResult(config.dataDir, "backup", { last_failure: { at: at(), message: error.message } });
    throw error;
  }
}

async function writeBackup(config: Config, options: BackupOptions) {
  const { location, signal, onStep } = options;
  signal.throwIfAborted();
  const storage = openStorage(location.place, config);
  const lock = await waitForLock(config.dataDir, onStep, signal);
  const staging = join(backupsFolder(config.dataDir), ".staging");
  const createdAt = new Date();
  const name = location.name ?? makeBackupName(createdAt);
  try {
    await removeStaleRestores(config.dataDir);
    // The unfinished uploads of a data directory always have the same name, so that its next backup replaces them.
    const id = createHash("sha256").update(`${hostname()}:${config.dataDir}`).digest("hex").slice(0, 16);
    const upload = await storage.upload(name, id, signal);
    try {
      const copy = await copyDatabase(config, staging, options);
      onStep({ step: "checking" });
      const { found, faults } = await inspectIntact(copy, "The copy");
      const source = config.databaseUrl === undefined ? "file" : "server";
      const manifest = await describeCopy(copy, found, options, { createdAt, source });
      const total = manifest.database.bytes;
      const onBytes = (done: number) => onStep({ step: "packing", done, total });
      await packArchive({ manifest, databasePath: copy }, upload.sink, { signal, onBytes });
      const report = {
        /** A path or an `s3://` address. */
        backup: formatLocation(location, name),
        created_at: manifest.created_at,
        bytes: await upload.finish(),
        database_bytes: total,
        schema: manifest.schema.at(-1)?.name ?? null,
        stores: manifest.stores,
        removed: [] as string[],
        /** Failures of steps after the backup was complete. */
        warnings: [] as string[],
      };
      if (faults !== undefined)
        report.warnings.push(`it cannot be restored: its database ${faults}; run bodega db check`);
      if (options.keep !== undefined) await prune(storage, manifest, options.keep, report);
      await audit(config, options.actor, report);
      return report;
    } catch (error) {
      await upload.discard();
      throw error;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isDamaged(error)) throw damaged("The database is damaged.", { remedy: "Run: bodega db check", cause: error });
    throw storageError(error, formatLocation(location), "The backup cannot be written to");
  } finally {
    removeIfPossible(staging);
    lock.close();
  }
}

/** Waits until no other backup of the data directory runs. Unfinished files are then those of killed backups. */
async function waitForLock(dataDir: string, onStep: BackupOptions["onStep"], signal: AbortSignal): Promise<FileLock> {
  makeDataDir(dataDir);
  try {
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw storageError(error, dataDir, "A backup needs to write to");
  }
  const lock = new FileLock(await loadLibsql(), join(dataDir, "backup.lock"));
  for (let isFirst = true; !lock.tryExclusive(); isFirst = false) {
    if (isFirst) onStep({ step: "waiting" });
    await Bun.sleep(50);
    signal.throwIfAborted();
  }
  return lock;
}

async function copyDatabase(config: Config, staging: string, { onStep, signal }: BackupOptions): Promise<string> {
  const { dataDir } = config;
  const copy = join(staging, "bodega.db");
  const onProgress = (done: number, total: number) => onStep({ step: "copying", done, total });
  try {
    makeBackupsFolder(dataDir);
    // A killed process may have left unfinished files, which are removed here.
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { mode: 0o700 });
    if (config.databaseUrl === undefined) await copyLive(databaseFile(dataDir), copy, { onProgress, signal });
    else await withConfiguredDatabase(config, (db) => dumpDatabase(db, copy, { onProgress, signal }));
    return copy;
  } catch (error) {
    throw storageError(error, backupsFolder(dataDir), "The database cannot be copied to");
  }
}

async function describeCopy(
  copy: string,
  { schema, begunAt, contents }: Inspection,
  { version, signal }: BackupOptions,
  { createdAt, source }: { createdAt: Date; source: Manifest["source"] },
): Promise<Manifest> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(copy), hash, { signal });
  return {
    format: 1,
    created_at: createdAt.toISOString(),
    version,
    source,
    database: { bytes: statSync(copy).size, sha256: hash.digest("hex"), begun_at: begunAt },
    schema,
    stores: contents.stores,
  };
}

/** Removes the oldest backups of this database. A failure is only a warning, because the new backup is complete. */
async function prune(storage: ObjectStorage, manifest: Manifest, keep: number, report: BackupReport): Promise<void> {
  try {
    const own: string[] = [];
    for (const name of await listBackups(storage)) {
      const found = await peekManifest(await storage.head(name));
      // The new backup is never removed, even if the clock was ahead when older ones were made.
      const isNew = report.backup.endsWith(name);
      if (!isNew && found?.database.begun_at === manifest.database.begun_at) own.push(name);
    }
    for (const name of own.slice(0, Math.max(0, own.length - keep + 1))) {
      await storage.remove(name);
      report.removed.push(name);
    }
  } catch (error) {
    const { message } = storageError(error, report.backup, "older backups were not removed beside") as AppError;
    report.warnings.push(message);
  }
}

async function audit(config: Config, actor: Actor, report: BackupReport): Promise<void> {
  const { backup, bytes, removed } = report;
  try {
    await withConfiguredDatabase(config, (db) => {
      const ctx = { db, actor, requestId: randomUUID(), now: Date.now };
      const details = { backup, bytes, removed: removed.length };
      return recordAudit(ctx, { event: "database.backed_up", details });
    });
  } catch (error) {
    const reason = error instanceof AppError ? error.message : "unexpected error";
    report.warnings.push(`it is not in the audit log: ${reason}`);
  }
}
