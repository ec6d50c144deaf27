import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { readLast } from "../backup/location.ts";
import { replicaDamage } from "../backup/manifest.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { readNewestGeneration } from "./generation.ts";
import type { ReplicaTarget } from "./target.ts";

/**
 * Logs a warning if the replica is on the disk of the data, and an error if the replica that was there is missing.
 * @param known the generation that this data directory last had in the place; 0 for none.
 */
export async function checkPlace(place: ReplicaTarget, known: number, dataDir: string, notice: LogWriter["notice"]) {
  const shared = await describeShared(place.address, dataDir);
  if (shared) notice("warn", shared);
  if (known === 0 || (await readNewestGeneration(place)) > 0) return;
  const message = `The replica that was in ${place.address} is gone. A new replica begins there.`;
  notice("error", `${message} Is its disk mounted?`);
}

/** Returns a warning if the replica is on the disk of the data; an empty text for another disk. */
export async function describeShared(address: string, dataDir: string): Promise<string> {
  const find = (path: string) => stat(path).catch(() => stat(dirname(path)).catch(() => undefined));
  const place = isAbsolute(address) ? await find(address) : undefined;
  if (place === undefined || place.dev !== (await find(databaseFile(dataDir)))?.dev) return "";
  return `The replica in ${address} is on the disk of ${dataDir} and would be lost with it.`;
}

/** Returns a function that checks whether a restore test has found damage since the last check, and logs damage. */
export function watchDamage({ address }: ReplicaTarget, dataDir: string, notice: LogWriter["notice"]) {
  const read = () => {
    const { at, message } = readLast(dataDir, "restore-test").last_failure ?? {};
    return message?.startsWith(replicaDamage) ? at : undefined;
  };
  let knownAt = read();
  return (): boolean => {
    const at = read();
    const isNew = at !== undefined && at !== knownAt;
    knownAt = at;
    if (isNew) notice("error", `A restore test found damage in ${address}; a new snapshot is made there.`);
    return isNew;
  };
}

export interface ReplicationStatus {
  place: string;
  /** The age of the newest state that a restore would return. */
  lag_seconds: number;
  failure: { since: string; message: string } | null;
}

const repeatMs = 3_600_000;
/** After this time without a failure, a place is logged as working. A faulty place may work for a shorter time. */
const steadyMs = 60_000;
const retryMs = { least: 1000, most: 5000 };

/**
 * Logs a repeated message once, then hourly. Messages about failures begin with `fails`. `works` is the message that
 * the place works again.
 */
export function trackFailures(write: LogWriter["notice"], fails: string, works: string) {
  const loggedAt = new Map<string, number>();
  let last: ReplicationStatus["failure"] = null;
  let failedAt: number | undefined;
  let delayMs = retryMs.least;
  const notice: LogWriter["notice"] = (level, message) => {
    if (Date.now() - (loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return;
    loggedAt.set(message, Date.now());
    write(level, message);
  };
  return {
    notice,
    last: () => last,
    /** Returns the milliseconds until the next try, which double with each failure. */
    begin(error: unknown): number {
      const { message: what, remedy = "Check the place, its account and the network." } = error as AppError;
      const message = `${what} ${remedy}`;
      failedAt = Date.now();
      notice("error", `${fails}: ${message}`);
      last = { since: last?.since ?? new Date().toISOString(), message };
      const waitMs = delayMs;
      delayMs = Math.min(waitMs * 2, retryMs.most);
      return waitMs;
    },
    end() {
      last = null;
      delayMs = retryMs.least;
      if (failedAt === undefined || Date.now() - failedAt < steadyMs) return;
      failedAt = undefined;
      loggedAt.clear();
      write("info", works);
    },
  };
}
