import { join } from "node:path";
import { type FetchedBackup, type FetchStep, verifyFetched } from "../backup/restore/fetch-backup.ts";
import { prefixes } from "./names.ts";
import type { Place } from "./place.ts";
import { rebuild } from "./rebuild.ts";

interface FetchOptions {
  /** An empty directory to write into. */
  folder: string;
  /** Milliseconds since 1970; undefined is the newest state. */
  until: number | undefined;
  onStep: (step: FetchStep) => void;
  signal: AbortSignal;
}

/** Whether a server has replicated to a place. */
export async function isReplica(place: Place): Promise<boolean> {
  return (await place.list(prefixes.generation)).length > 0;
}

/**
 * Rebuilds a state of a replica in a directory and verifies all of it, as `fetchBackup` does for a backup.
 * @throws as `rebuild` and `fetchBackup`.
 */
export async function fetchReplica(place: Place, options: FetchOptions): Promise<FetchedBackup> {
  const { folder, until, onStep, signal } = options;
  const onProgress = (done: number, total: number) => onStep({ step: "reading", done, total });
  const { state, version } = await rebuild(place, join(folder, "bodega.db"), { until, onProgress, signal });
  onStep({ step: "checking" });
  return verifyFetched(folder, { created_at: state.at, version }, undefined);
}
