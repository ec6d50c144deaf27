import { existsSync, statSync } from "node:fs";
import { withConfiguredDatabase } from "../admin/open-database.ts";
import { parseSource, readLast, recordResult, restoreTestPlace } from "../backup/location.ts";
import { fetchBackup } from "../backup/restore/fetch-backup.ts";
import { makeRestoreTempDir } from "../backup/restore/temp-dir.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { maxWalBytes } from "../db/local/file-database.ts";
import { readBirth } from "../db/migrate.ts";
import { unavailable, wrongState } from "../errors.ts";
import { freeDiskBytes } from "../monitoring/readiness.ts";
import { fetchReplica, findReplica } from "../replication/rebuild.ts";
import { formatBytes } from "../values/units.ts";
import { reasonOf } from "./finding.ts";

/**
 * Restores the newest state of a replica or of backups to a temporary directory, as `db restore --dry-run` does. If the
 * server writes to this place, stores the result for `doctor` and the metrics. Blocks the process.
 */
export async function testRestore(config: Config, place: string) {
  const { dataDir } = config;
  const { last_success: last, last_failure: failed } = readLast(dataDir, "restore-test");
  // This process does not see flags of the server, but the recorded results contain the place of the server.
  const isOwn = [restoreTestPlace(config), failed?.place, last?.place].includes(place);
  const record = (change: Parameters<typeof recordResult>[2]) => isOwn && recordResult(dataDir, "restore-test", change);
  try {
    const result = await restoreAside(config, place, isOwn);
    record({ last_success: { at: new Date().toISOString(), place, bytes: result.bytes }, last_failure: null });
    return result;
  } catch (error) {
    record({ last_failure: { at: new Date().toISOString(), place, message: reasonOf(error) } });
    throw error;
  }
}

async function restoreAside(config: Config, place: string, isOwn: boolean) {
  const source = parseSource(place, "<place>", "Check the path, or make a backup: bodega db backup");
  const path = databaseFile(config.dataDir);
  // The test must leave enough space for the largest WAL of the server.
  const needed = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) + maxWalBytes;
  if (needed > (freeDiskBytes(config.dataDir) ?? needed)) {
    throw unavailable(`A restore test needs ${formatBytes(needed)} of free space on the disk of ${config.dataDir}.`);
  }
  const { path: folder, remove } = await makeRestoreTempDir(config.dataDir, false);
  process.once("exit", remove);
  try {
    const options = { folder, onStep: () => {}, signal: new AbortController().signal };
    const replica = await findReplica(source, config);
    const { manifest, inspection, databasePath } = replica
      ? await fetchReplica(replica, options)
      : await fetchBackup(source, { ...options, config, newest: true });
    const hasDatabase = config.databaseUrl !== undefined || existsSync(path);
    const birth = isOwn && hasDatabase ? await withConfiguredDatabase(config, readBirth) : inspection.begunAt;
    if (birth !== inspection.begunAt) {
      const message = `${place} has another database, created at ${inspection.begunAt}. The database of ${config.dataDir} was created at ${birth}.`;
      throw wrongState(message, { remedy: "Choose an empty place for the replica or the backups of this database." });
    }
    const state_at = manifest?.created_at ?? null;
    return { place, state_at, bytes: statSync(databasePath).size, ...inspection.contents };
  } finally {
    remove();
  }
}
