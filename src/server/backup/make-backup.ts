import { createHash, randomUUID } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config/config.ts";
import { databaseFile, makeDataDir } from "../config/data-dir.ts";
import type { Actor } from "../context.ts";
import { FileLock } from "../db/local/file-lock.ts";
import { loadLibsql } from "../db/local/load-libsql.ts";
import { withConfiguredDatabase } from "../db/open.ts";
import { AppError, notFound, wrongState } from "../errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { copySecret, fingerprintOf } from "../security/secret-key.ts";
import { packContainer } from "./container.ts";
import { copyLive } from "./copy/copy-live.ts";
import { dumpDatabase } from "./copy/dump.ts";
import type { BackupReport, BackupStep } from "./job.ts";
import type { Manifest } from "./manifest.ts";
import { findUntrusted } from "./restore/assert-trusted.ts";
import { assertSound, type Inspection, inspectCopy, withCopy } from "./restore/inspect.ts";
import { removeStaleFolders } from "./restore/temp-dir.ts";
import { makeBackupName } from "./store/names.ts";
import { openStore } from "./store/open-store.ts";
import {
  type BackupPlace,
  backupsFolder,
  formatPlace,
  makeBackupsFolder,
  placeError,
  stagingFolder,
} from "./store/place.ts";
import { pruneBackups } from "./store/prune.ts";

/** What is to be backed up, and how. */
export interface BackupOptions {
  id: string;
  place: BackupPlace;
  /** How many backups of this database stay in the place; undefined leaves all. */
  keep: number | undefined;
  includeKey: boolean;
  /** The program's. */
  version: string;
  actor: Actor;
  stdout: Writable;
  onStep: (step: BackupStep) => void;
  signal: AbortSignal;
}

const copyName = "bodega.db";

/**
 * Makes one backup: a copy of the database as it is at one moment, checked, and packed with its manifest. Checking blocks
 * the process for as long as it takes, so it is to have one of its own.
 * @throws notFound without a database, unavailable when the place or the disk cannot be used, validationFailed when the copy is not sound.
 */
export async function makeBackup(config: Config, options: BackupOptions): Promise<BackupReport> {
  const { id, place, onStep, signal } = options;
  signal.throwIfAborted();
  const isFile = config.databaseUrl === undefined;
  if (isFile && !existsSync(databaseFile(config.dataDir))) {
    throw notFound("database", undefined, {
      in: config.dataDir,
      remedy: "Name its folder with --data-dir or BODEGA_DATA_DIR.",
    });
  }
  const key = options.includeKey ? requireSecret(config) : undefined;
  const store = openStore(place, config, options.stdout);
  const lock = await waitForTurn(config.dataDir, onStep, signal);
  const staging = stagingFolder(config.dataDir, id);
  const createdAt = new Date();
  const name = ("name" in place ? place.name : undefined) ?? makeBackupName(createdAt);
  try {
    makeStaging(config.dataDir, staging);
    await removeStaleFolders(config.dataDir);
    const upload = await store.create(name, id, signal);
    try {
      const copy = join(staging, copyName);
      await copyInto(config, isFile, copy, options);
      onStep({ step: "checking" });
      const { found, untrusted } = await withCopy(copy, async (connection) => {
        assertSound(connection, "The copy");
        const found = await inspectCopy(connection);
        return { found, untrusted: await findUntrusted(connection, found) };
      });
      if (key !== undefined && found.keyFingerprint !== null && fingerprintOf(key) !== found.keyFingerprint) {
        throw wrongState("The secret key is not the one that this database was made with: it is of no use beside it.");
      }
      const manifest = await describe(copy, found, { ...options, createdAt, isFile, hasKey: key !== undefined });
      const total = manifest.database.bytes;
      await packContainer({ manifest, databasePath: copy, key }, upload.sink, {
        signal,
        onBytes: (done) => onStep({ step: "packing", done, total }),
      });
      const bytes = await upload.finish();
      const report: BackupReport = {
        backup: formatPlace(place, name),
        created_at: manifest.created_at,
        bytes,
        database_bytes: total,
        schema: manifest.schema.at(-1)?.name ?? null,
        stores: manifest.stores,
        key_included: key !== undefined,
        removed: [],
        warnings: untrusted === undefined ? [] : [`no restore will take it: its database ${untrusted}; see db check`],
      };
      await finishBackup(config, options, manifest, store, report);
      return report;
    } catch (error) {
      await upload.discard();
      throw signal.aborted ? error : placeError(error, formatPlace(place), "The backup cannot be written to");
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
    lock.close();
  }
}

function requireSecret(config: Config): string {
  const secret = copySecret(config);
  if (secret === null) throw wrongState(`There is no secret key in ${config.dataDir} to include.`);
  return secret;
}

/** One backup of a data directory at a time: what the others have left unfinished is then nobody's. */
async function waitForTurn(dataDir: string, onStep: BackupOptions["onStep"], signal: AbortSignal): Promise<FileLock> {
  makeDataDir(dataDir);
  const lock = new FileLock(await loadLibsql(), join(dataDir, "backup.lock"));
  for (let isFirst = true; !lock.tryExclusive(); isFirst = false) {
    if (isFirst) onStep({ step: "waiting" });
    await Bun.sleep(50);
    signal.throwIfAborted();
  }
  return lock;
}

function makeStaging(dataDir: string, staging: string): void {
  const folder = backupsFolder(dataDir);
  try {
    makeBackupsFolder(dataDir);
    for (const name of readdirSync(folder)) {
      if (name.startsWith(".staging-")) rmSync(join(folder, name), { recursive: true, force: true });
    }
    mkdirSync(staging, { mode: 0o700 });
  } catch (error) {
    throw placeError(error, folder, "The database cannot be copied to");
  }
}

async function copyInto(
  config: Config,
  isFile: boolean,
  copy: string,
  { onStep, signal }: BackupOptions,
): Promise<void> {
  if (isFile) {
    const onProgress = (done: number, total: number) => onStep({ step: "copying", done, total });
    return copyLive(databaseFile(config.dataDir), copy, { onProgress, signal });
  }
  onStep({ step: "copying" });
  await withConfiguredDatabase(config, (db) =>
    dumpDatabase(db, copy, { signal, onProgress: (done, total) => onStep({ step: "copying", done, total }) }),
  );
}

async function describe(
  copy: string,
  { schema, begunAt, keyFingerprint, contents }: Inspection,
  { version, createdAt, isFile, hasKey, signal }: BackupOptions & { createdAt: Date; isFile: boolean; hasKey: boolean },
): Promise<Manifest> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(copy), hash, { signal });
  return {
    format: 1,
    created_at: createdAt.toISOString(),
    version,
    source: isFile ? "file" : "server",
    database: { bytes: statSync(copy).size, sha256: hash.digest("hex"), begun_at: begunAt },
    schema,
    key_fingerprint: keyFingerprint,
    key_included: hasKey,
    stores: contents.stores,
  };
}

/** What comes after the backup is whole: nothing of it can make the backup fail any more. */
async function finishBackup(
  config: Config,
  { keep, actor }: BackupOptions,
  { database }: Manifest,
  store: ReturnType<typeof openStore>,
  report: BackupReport,
): Promise<void> {
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      report.warnings.push(`${what}: ${error instanceof AppError ? error.message : "unexpected"}`);
    }
  };
  if (keep !== undefined) {
    await attempt("older backups stay", async () => {
      report.removed = await pruneBackups(store, database.begun_at, keep);
    });
  }
  await attempt("it is not in the audit log", () =>
    withConfiguredDatabase(config, async (db) => {
      const { backup, bytes, key_included, removed } = report;
      const details = { backup, bytes, key_included, removed: removed.length };
      const ctx = { db, actor, requestId: randomUUID(), now: Date.now, clientIp: null };
      await recordAudit(ctx, { event: "database.backed_up", details });
    }),
  );
}
