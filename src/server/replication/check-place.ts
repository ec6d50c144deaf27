import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { noteResult } from "../backup/last.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { LogWriter } from "../logging/logger.ts";
import { readNewestClaim } from "./generation.ts";
import type { Place } from "./place.ts";

/**
 * Logs that a place is on the disk of the data, or that the replica there is gone, as when its disk is not mounted.
 * @param known the generation that this data directory last had there; 0 for none.
 */
export async function checkPlace(place: Place, known: number, dataDir: string, notice: LogWriter["notice"]) {
  const shared = await describeShared(place.address, dataDir);
  if (shared) notice("warn", shared);
  const { generation: newest = 0 } = (await readNewestClaim(place)) ?? {};
  if (newest >= known) return;
  const message = `The replica that was in ${place.address} is gone, and another one begins there. Is its disk mounted?`;
  if (newest === 0) notice("error", message);
  // An earlier one is the replica that was gone for a while.
  noteResult(dataDir, "replica", { last_failure: newest > 0 ? null : { at: new Date().toISOString(), message } });
}

/** Says that a place is a directory on the disk of the database; empty where it is not. */
export async function describeShared(address: string, dataDir: string): Promise<string> {
  const find = (path: string) => stat(path).catch(() => stat(dirname(path)).catch(() => undefined));
  const place = isAbsolute(address) ? await find(address) : undefined;
  if (place === undefined || place.dev !== (await find(databaseFile(dataDir)))?.dev) return "";
  return `The replica in ${address} is on the disk of ${dataDir} and would be lost with it.`;
}
