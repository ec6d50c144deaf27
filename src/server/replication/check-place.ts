import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { noteResult } from "../backup/last.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { LogWriter } from "../logging/logger.ts";
import { parseGeneration, prefixes } from "./names.ts";
import type { Place } from "./place.ts";

/**
 * Logs that a place protects less than one thinks: it is on the disk of the data, or the replica that was there is gone,
 * as when its disk is not mounted. `doctor` finds both.
 * @param generation that this data directory last had there; 0 for none.
 */
export async function checkPlace(
  place: Place,
  generation: number,
  { dataDir, notice }: { dataDir: string; notice: LogWriter["notice"] },
): Promise<void> {
  const { address } = place;
  if (await sharesDisk(address, dataDir)) notice("warn", describeShared(address, dataDir));
  const newest = (await place.list(prefixes.generation)).flatMap((name) => parseGeneration(name) ?? []).at(-1) ?? 0;
  // An earlier one is the replica that was gone for a while.
  if (newest > 0 && newest < generation) noteResult(dataDir, "replica", { last_failure: null });
  if (newest > 0 || generation === 0) return;
  const message = describeGone(address);
  notice("error", message);
  noteResult(dataDir, "replica", { last_failure: { at: new Date().toISOString(), message } });
}

export function describeGone(address: string): string {
  return `The replica that was in ${address} is gone, and another one begins there. Is its disk mounted?`;
}

export function describeShared(address: string, dataDir: string): string {
  return `The replica in ${address} is on the disk of ${dataDir} and would be lost with it.`;
}

/** Whether a place is a directory on the disk of a database file. */
export async function sharesDisk(address: string, dataDir: string): Promise<boolean> {
  return isAbsolute(address) && (await deviceOf(address)) === (await deviceOf(databaseFile(dataDir)));
}

/** The device of a path, or of the directory in which it would be created. */
async function deviceOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.dev ?? deviceOf(dirname(path));
}
