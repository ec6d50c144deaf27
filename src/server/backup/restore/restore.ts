import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { withConfiguredDatabase } from "../../admin/open-database.ts";
import type { Config } from "../../config/config.ts";
import { databaseFile, standbyFile } from "../../config/data-dir.ts";
import type { Actor } from "../../context.ts";
import { acquireServerLock, type FileLock } from "../../db/local/file-lock.ts";
import { mergeWal } from "../../db/local/merge-wal.ts";
import { lockExclusive, lockShared } from "../../db/local/open-file-lock.ts";
import type { Database } from "../../db/session.ts";
import { type AppError, wrongState } from "../../errors.ts";
import { recordAudit } from "../../modules/audit/service.ts";
import { storageError } from "../../object-store/storage.ts";
import { copySecret, fingerprintOf } from "../../security/secret-key.ts";
import type { FetchedBackup } from "./fetch-backup.ts";
import { type Inspection, inspectCopy, withCopy } from "./inspect.ts";
import { inspectTarget, loadDatabase } from "./load-server.ts";
import { replaceFile } from "./replace-file.ts";

export type RestorePlan = Awaited<ReturnType<typeof planRestore>>;

interface RestoreOptions {
  actor: Actor;
  onProgress?: (done: number, total: number) => void;
  /** Runs once when the restore begins to wait. `holders` names the commands that use the database. */
  onWait?: (holders: string) => void;
  signal?: AbortSignal;
}

/**
 * Compares a backup with the configured database, and returns warnings. Changes nothing.
 * @throws conflict when a database server already contains stores, unavailable when it cannot be reached.
 */
export async function planRestore(fetched: FetchedBackup, config: Config) {
  const warnings: string[] = [];
  const key = compareKeys(fetched, config);
  if (key === "other" || key === "missing") warnings.push(describeKey(key));
  if (fetched.missing.length > 0) {
    warnings.push("The backup has an earlier schema. bodega serve and bodega db migrate update it.");
  }
  let present: Inspection | null = null;
  if (config.databaseUrl === undefined) present = await readPresentFile(config, warnings);
  else await withConfiguredDatabase(config, inspectTarget);
  return { fetched, key, warnings, present };
}

/**
 * Restores a backup. A file is replaced by a rename, so that the old or the new file always exists. If the signal
 * aborts before the rename, nothing changes. The database of a libSQL server is loaded in batches.
 * @throws wrongState while a server runs on the data directory; unavailable if a command keeps the database open or the
 * disk cannot be written.
 */
export async function applyRestore({ fetched }: RestorePlan, config: Config, options: RestoreOptions) {
  const { actor } = options;
  if (config.databaseUrl !== undefined) {
    await withConfiguredDatabase(config, async (db) => {
      await loadDatabase(fetched.databasePath, db, options);
      await audit(db, actor, fetched);
    });
    return null;
  }
  const server = await acquireServerLock(config.dataDir);
  if (server === null) throw serverRuns(config.dataDir);
  try {
    if (fetched.missing.length === 0) {
      // The audit entry is written to the copy, so that the restored database always contains it.
      await withConfiguredDatabase({ ...config, dataDir: fetched.folder }, (db) => audit(db, actor, fetched));
      await mergeWal(fetched.databasePath);
    }
    return await swap(fetched, config.dataDir, options);
  } finally {
    server.close();
  }
}

async function swap(
  { databasePath: newPath }: FetchedBackup,
  dataDir: string,
  { signal, onWait }: RestoreOptions,
): Promise<string | null> {
  const path = databaseFile(dataDir);
  const beforeSwap = () => stopIfAborted(signal);
  const lock = await lockExclusive(path, { signal, onWait });
  try {
    // The lock is kept until the process ends. At garbage collection, the engine closes the old file and removes the
    // WAL by its name. Until then, no other process may have a WAL of that name.
    return await replaceFile({ dataDir, path, newPath, now: new Date(), beforeSwap });
  } catch (error) {
    lock.close();
    throw signal?.aborted ? error : storageError(error, path, "The database cannot be replaced:");
  }
}

/** Waits until signals that arrived during native code are handled. Throws the reason of `signal` if it was aborted. */
export async function stopIfAborted(signal: AbortSignal | undefined): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

export function serverRuns(dataDir: string): AppError {
  return wrongState(`A server is running on ${dataDir}. Stop it before you restore a backup.`);
}

/** Returns "unused" when the backup's database has no secrets. */
function compareKeys({ inspection }: FetchedBackup, config: Config) {
  if (inspection.keyFingerprint === null) return "unused";
  const secret = copySecret(config);
  if (secret === null) return "missing";
  return fingerprintOf(secret) === inspection.keyFingerprint ? "same" : "other";
}

function describeKey(key: "missing" | "other"): string {
  const found =
    key === "other" ? "The secret key in use is not the backup's." : "The secret key of the backup is missing.";
  return (
    `${found} Without the right key no server starts with this database, and second factors, queued mail and webhook secrets ` +
    "cannot be decrypted. Put the key into secret.key or BODEGA_SECRET. If it is lost: bodega db rekey"
  );
}

async function readPresentFile(config: Config, warnings: string[]): Promise<Inspection | null> {
  const { dataDir } = config;
  const path = databaseFile(dataDir);
  if (existsSync(standbyFile(dataDir))) {
    warnings.push(`${dataDir} is a standby's directory. It becomes a server's directory; the copy is kept.`);
    return null;
  }
  if (!existsSync(path)) return null;
  let lock: FileLock | undefined;
  try {
    lock = await lockShared(path);
    return await withCopy(path, inspectCopy);
  } catch {
    warnings.push("The current database cannot be read. The restore keeps its file.");
    return null;
  } finally {
    lock?.close();
  }
}

/** Adds an entry to the audit log. An earlier schema may have no audit log. */
async function audit(db: Database, actor: Actor, { manifest, missing }: FetchedBackup): Promise<void> {
  if (missing.length > 0) return;
  const ctx = { db, actor, requestId: randomUUID(), now: Date.now };
  const details = { made_at: manifest?.created_at ?? null, version: manifest?.version ?? null };
  await recordAudit(ctx, { event: "database.restored", details });
}
