import { join } from "node:path";
import { type BackupLocation, formatLocation } from "../backup/location.ts";
import { type FetchStep, verifyFetched } from "../backup/restore/fetch-backup.ts";
import type { Config } from "../config/config.ts";
import { prefixes } from "./names.ts";
import { openPlace, type Place } from "./place.ts";
import { type RebuildOptions, rebuild } from "./rebuild.ts";

interface FetchOptions extends Omit<RebuildOptions, "onProgress"> {
  /** An empty directory to write into. */
  folder: string;
  onStep: (step: FetchStep) => void;
}

/** The replica at a source; undefined where the source is a backup or a directory of backups. */
export async function findReplica(source: BackupLocation, config: Pick<Config, "s3">): Promise<Place | undefined> {
  if (source.kind === "stdout" || source.name !== undefined) return undefined;
  const place = openPlace(formatLocation(source), config);
  return (await place.list(prefixes.generation)).length > 0 ? place : undefined;
}

/**
 * Rebuilds a state of a replica in a directory and verifies all of it, as `fetchBackup` does for a backup; returns also
 * the end of the chain that was applied.
 * @throws as `rebuild` and `fetchBackup`.
 */
export async function fetchReplica(place: Place, options: FetchOptions) {
  const { folder, until, onStep, signal } = options;
  const onProgress = (done: number, total: number) => onStep({ step: "reading", done, total });
  const { state, version } = await rebuild(place, join(folder, "bodega.db"), { until, onProgress, signal });
  onStep({ step: "checking" });
  return { ...(await verifyFetched(folder, { created_at: state.at, version }, undefined)), state };
}
