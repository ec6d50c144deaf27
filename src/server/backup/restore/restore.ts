import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { databaseFile } from "../../config/data-dir.ts";
import type { Actor } from "../../context.ts";
import type { FileLock } from "../../db/local/file-lock.ts";
import { foldLog } from "../../db/local/merge-wal.ts";
import { claimFile, shareFile } from "../../db/local/open-file-lock.ts";
import { acquireServerLock } from "../../db/local/server-lock.ts";
import { openDatabase, withConfiguredDatabase } from "../../db/open.ts";
import type { Database } from "../../db/session.ts";
import { type AppError, conflict, validationFailed, wrongState } from "../../errors.ts";
import { recordAudit } from "../../modules/audit/service.ts";
import { copySecret, fingerprintOf, saveSecret } from "../../security/secret-key.ts";
import type { CopyOptions } from "../copy/copy-options.ts";
import { placeError } from "../store/place.ts";
import type { TakenBackup } from "./fetch-backup.ts";
import { type Contents, inspectCopy, withCopy } from "./inspect.ts";
import { assertLoadable, loadDatabase } from "./load.ts";
import { replaceFile } from "./replace-file.ts";

/** How the key that the backup was sealed with stands to the one that is here. */
export type KeyState = "same" | "missing" | "other" | "unused";

/** What a restore would do. */
export interface RestorePlan {
  taken: TakenBackup;
  /** What is there now; null where there is nothing, or nothing that can be read. */
  present: Contents | null;
  key: KeyState;
  /** What is to be known before it is done. */
  warnings: string[];
}

/** What a restore has done. */
export interface RestoreOutcome {
  /** Where what was there before is kept; null where there was nothing. */
  kept: string | null;
  keyRestored: boolean;
}

const held = new Set<FileLock>();

/**
 * Compares a backup with what is there, without changing anything.
 * @throws conflict when a database server holds a shop already, unavailable when it cannot be reached.
 */
export async function planRestore(taken: TakenBackup, config: Config): Promise<RestorePlan> {
  const warnings: string[] = [];
  const key = compareKeys(taken, config);
  if (key === "other" || key === "missing") warnings.push(explainKey(key, taken.key !== undefined));
  if (taken.missing.length > 0) {
    warnings.push(`The backup has an earlier schema; bodega serve, or bodega db migrate, brings it up to date.`);
  }
  if (isFile(config)) return { taken, key, warnings, present: await readPresentFile(config, warnings) };
  return withConfiguredDatabase(config, async (db) => {
    await assertLoadable(db);
    return { taken, key, warnings, present: null };
  });
}

/**
 * Puts a backup in the place of the database: a file by one renaming, so that at any moment the old or the new one stands;
 * into a database server portion by portion.
 * @param options of a file, the signal alone: once aborted it ends everything up to that renaming, which it cannot undo.
 * @throws wrongState while a server runs on the directory, conflict for `withKey` where another key is, unavailable when a command
 * keeps the database open or the disk cannot be written.
 */
export async function applyRestore(
  { taken, key }: RestorePlan,
  config: Config,
  { actor, withKey, ...options }: { actor: Actor; withKey: boolean } & CopyOptions,
): Promise<RestoreOutcome> {
  if (withKey) assertKeyFits(taken, key, config);
  const keyRestored = withKey && key === "missing";
  if (!isFile(config)) {
    return withConfiguredDatabase(config, async (db) => {
      await loadDatabase(taken.databasePath, db, options);
      if (keyRestored) saveSecret(config.dataDir, taken.key as string);
      await writeDown(db, actor, taken);
      return { kept: null, keyRestored };
    });
  }
  const server = await acquireServerLock(config.dataDir);
  if (server === null) throw serverRuns(config.dataDir);
  try {
    await writeDownInCopy(taken, actor);
    const path = databaseFile(config.dataDir);
    const users = await claimFile(path, undefined, options.signal);
    try {
      const beforeSwap = async () => {
        await stopIfAsked(options.signal);
        if (keyRestored) saveSecret(config.dataDir, taken.key as string);
      };
      const { dataDir } = config;
      const steps = replaceFile({ dataDir, path, newPath: taken.databasePath, now: new Date(), beforeSwap });
      for (;;) {
        const { done, value } = await steps.next();
        if (!done) continue;
        // The engine closes what was read of the old file whenever it likes, and then removes the log by its name: until
        // this process has ended nobody else may have one of that name.
        held.add(users);
        return { kept: value, keyRestored };
      }
    } catch (error) {
      users.close();
      throw options.signal?.aborted ? error : placeError(error, path, "The database cannot be replaced:");
    }
  } finally {
    server.release();
  }
}

/**
 * Lets in signals that came while native code had the process, and then ends whatever was stopped meanwhile.
 * @throws the signal's reason.
 */
export async function stopIfAsked(signal: AbortSignal | undefined): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

/** The error for a directory that a server works on. */
export function serverRuns(dataDir: string): AppError {
  return wrongState(`A server is running on ${dataDir}. Stop it first: it works with the present database.`);
}

function isFile(config: Config): boolean {
  return config.databaseUrl === undefined;
}

function compareKeys({ inspection }: TakenBackup, config: Config): KeyState {
  if (inspection.keyFingerprint === null) return "unused";
  const secret = copySecret(config);
  if (secret === null) return "missing";
  return fingerprintOf(secret) === inspection.keyFingerprint ? "same" : "other";
}

function explainKey(key: "missing" | "other", isInside: boolean): string {
  const lost =
    "Without it no server starts on the database, and second factors, waiting mail and the secrets of webhooks stay " +
    "closed. Put it back as secret.key or BODEGA_SECRET; if it is lost for good: bodega db rekey";
  if (key === "other") return `The secret key here is not the one that the backup was made with. ${lost}`;
  if (isInside) return "There is no secret key here; the one in the backup is put in its place with --with-key.";
  return `The secret key that the backup was made with is not here. ${lost}`;
}

function assertKeyFits(taken: TakenBackup, key: KeyState, config: Config): void {
  if (taken.key === undefined)
    throw validationFailed("There is no secret key in this backup; --with-key has nothing to restore.");
  if (key === "other") {
    throw conflict(`There is another secret key in ${config.dataDir} or BODEGA_SECRET already. Move it away first.`);
  }
}

async function readPresentFile(config: Config, warnings: string[]): Promise<Contents | null> {
  const path = databaseFile(config.dataDir);
  if (!existsSync(path)) return null;
  const users = await shareFile(path);
  try {
    return (await withCopy(path, inspectCopy)).contents;
  } catch {
    warnings.push("The present database cannot be read; it is kept as it is.");
    return null;
  } finally {
    users.close();
  }
}

/** Before it takes its place, so that no moment has the one without the other. An earlier schema has no room for it. */
async function writeDownInCopy(taken: TakenBackup, actor: Actor): Promise<void> {
  if (taken.missing.length > 0) return;
  const db = await openDatabase({ dataDir: taken.folder });
  try {
    await writeDown(db, actor, taken);
  } finally {
    await db.close();
  }
  await foldLog(taken.databasePath);
}

async function writeDown(db: Database, actor: Actor, { manifest, missing }: TakenBackup): Promise<void> {
  if (missing.length > 0) return;
  const ctx = { db, actor, requestId: randomUUID(), now: Date.now, clientIp: null };
  const details = { made_at: manifest?.created_at ?? null, version: manifest?.version ?? null };
  await recordAudit(ctx, { event: "database.restored", details });
}
