import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { withConfiguredDatabase } from "../admin/open-database.ts";
import { readLast, recordResult } from "../backup/last.ts";
import { maxRehearsalMs, parseSource, rehearsedPlace } from "../backup/location.ts";
import { damaged } from "../backup/manifest.ts";
import { fetchBackup } from "../backup/restore/fetch-backup.ts";
import { makeRestoreTempDir } from "../backup/restore/temp-dir.ts";
import { storageError } from "../backup/storage.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { maxWalBytes } from "../db/local/file-database.ts";
import { syncFile } from "../db/local/sync-file.ts";
import { migrate, readBirth } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { type AppError, unavailable, wrongState } from "../errors.ts";
import { freeDiskBytes } from "../monitoring/readiness.ts";
import { fetchReplica, findReplica } from "../replication/rebuild.ts";
import { readReplicaState } from "../replication/state.ts";
import { formatBytes } from "../values/bytes.ts";
import { runDatabaseCheck } from "./doctor.ts";

/**
 * Restores the newest state of a replica, of a directory of backups or of a backup aside, and checks it as `db check` does.
 * The result is noted in the data directory if its server replicates to or rehearses this place. Blocks the process.
 * @throws unavailable where the disk has too little space; as `fetchReplica`.
 */
export async function rehearse(config: Config, place: string) {
  const { dataDir } = config;
  const { last_success: last, last_failure: failed } = readLast(dataDir, "rehearsal");
  const replica = readReplicaState(databaseFile(dataDir));
  // A server may have its place from a flag.
  const isOwn = [rehearsedPlace(config), failed?.place, replica?.place, last?.place].includes(place);
  const now = () => new Date().toISOString();
  try {
    const result = await restoreAside(config, place, isOwn);
    const success = { at: now(), place, bytes: result.bytes };
    if (isOwn) recordResult(dataDir, "rehearsal", { last_success: success, last_failure: null });
    return { place, ...result };
  } catch (cause) {
    const error = storageError(cause, dataDir, "A restore cannot be rehearsed in") as AppError;
    const failure = { at: now(), message: error.message, place };
    if (isOwn) recordResult(dataDir, "rehearsal", { last_failure: failure });
    throw error;
  }
}

async function restoreAside(config: Config, address: string, isOwn: boolean) {
  const source = parseSource(address, "<place>", "Check the path, or make a backup: bodega db backup");
  const { path: folder, remove } = await makeRestoreTempDir(config.dataDir, false);
  process.once("exit", remove);
  try {
    requireSpace(config, folder);
    const path = join(folder, "bodega.db");
    // Little by little, so that the commits of a server hardly wait for the disk.
    const onStep = () => existsSync(path) && syncFile(path);
    const fetching = { folder, onStep, signal: AbortSignal.timeout(maxRehearsalMs) };
    const replica = await findReplica(source, config);
    const { manifest, inspection, missing } = replica
      ? await fetchReplica(replica, { ...fetching, until: undefined })
      : await fetchBackup(source, { ...fetching, config, stdin: () => process.stdin, newest: true });
    if (isOwn) await requireSameDatabase(config, address, inspection.begunAt);
    // As a server does when it starts.
    if (missing.length > 0) await openDatabase({ dataDir: folder }).then((db) => migrate(db).finally(() => db.close()));
    const at = manifest?.created_at ?? new Date().toISOString();
    const deps = { now: () => Date.parse(at), command: (words: string) => words, timeoutMs: maxRehearsalMs };
    const { findings } = await runDatabaseCheck({ ...config, databaseUrl: undefined, dataDir: folder }, { deps });
    const [first, ...more] = findings.filter(({ severity }) => severity === "error");
    if (first) throw damaged(`The restored database has ${more.length + 1} errors. ${first.message}`);
    return { state_at: at, bytes: statSync(path).size, ...inspection.contents };
  } finally {
    remove();
  }
}

/** Another shop's replica or backups prove nothing. @throws wrongState */
async function requireSameDatabase(config: Config, address: string, begunAt: string | null): Promise<void> {
  if (config.databaseUrl === undefined && !existsSync(databaseFile(config.dataDir))) return;
  const own = await withConfiguredDatabase(config, readBirth);
  if (own === begunAt) return;
  const message = `${address} has another database, created at ${begunAt}; the one here was created at ${own}.`;
  throw wrongState(message, { remedy: "Choose an empty place for the replica or the backups of this one." });
}

/** The server's largest WAL must have space meanwhile. */
function requireSpace({ dataDir }: Config, folder: string): void {
  const needed = (statSync(databaseFile(dataDir), { throwIfNoEntry: false })?.size ?? 0) + maxWalBytes;
  const free = freeDiskBytes(folder) ?? needed;
  if (free >= needed) return;
  const message = `A rehearsal needs ${formatBytes(needed)} on the disk of ${dataDir}, which has ${formatBytes(free)} free.`;
  throw unavailable(message, { remedy: "Free space on this disk." });
}
