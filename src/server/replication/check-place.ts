import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { readLast } from "../backup/location.ts";
import { replicaDamage } from "../backup/manifest.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { smallCallMs } from "../object-store/open-storage.ts";
import { GenerationLease, readNewestGeneration } from "./generation.ts";
import { readReplicaState } from "./state.ts";
import { openReplica, type ReplicaTarget } from "./target.ts";
import { WalTail } from "./wal-tail.ts";

/**
 * Warns of a place on the disk of the data, and of a missing replica, for example if its disk is not mounted.
 * @param known the generation that this data directory last had there; 0 for none.
 */
export async function checkPlace(place: ReplicaTarget, known: number, dataDir: string, notice: LogWriter["notice"]) {
  const shared = await describeShared(place.address, dataDir);
  if (shared) notice("warn", shared);
  if (known === 0 || (await readNewestGeneration(place)) > 0) return;
  notice(
    "error",
    `The replica that was in ${place.address} is gone, and another one begins there. Is its disk mounted?`,
  );
}

/** `database` is the result of `readBirth`, empty for a new one. Throws as `GenerationLease.check`. */
export async function checkStart(database: string, config: Config, place: string, timeoutMs = smallCallMs) {
  const path = databaseFile(config.dataDir);
  const known = readReplicaState(path, place);
  const tail = new WalTail(`${path}-wal`, known?.isUnchanged ? known.end : null, { emptied() {}, wanted() {} });
  const replica = openReplica(place, { ...config, leaveModes: true }, { timeoutMs });
  const lease = new GenerationLease(replica, { ...config, database, known, tail });
  await lease.check(known?.isSameFile ? known.generation : 0, (_level, message) => {
    throw unavailable(message);
  });
}

/** Returns an empty text for a place on another disk. */
export async function describeShared(address: string, dataDir: string): Promise<string> {
  const find = (path: string) => stat(path).catch(() => stat(dirname(path)).catch(() => undefined));
  const place = isAbsolute(address) ? await find(address) : undefined;
  if (place === undefined || place.dev !== (await find(databaseFile(dataDir)))?.dev) return "";
  return `The replica in ${address} is on the disk of ${dataDir} and would be lost with it.`;
}

/** Returns a function that returns, and logs, whether a restore test has found damage since its last call. */
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
