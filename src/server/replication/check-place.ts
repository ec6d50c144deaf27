import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { readLast } from "../backup/last.ts";
import { replicaDamage } from "../backup/manifest.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { smallCallMs } from "../object-store/bounded-storage.ts";
import { GenerationLease, readNewestGeneration } from "./generation.ts";
import { mainChain, parseSegmentIds, prefixes, type SegmentId, segmentName, snapshotName } from "./names.ts";
import { getObject, ignoreUnverified } from "./objects.ts";
import type { SnapshotHeader } from "./rebuild.ts";
import { readReplicaState } from "./state.ts";
import { openReplica, type ReplicaTarget } from "./target.ts";
import { WalTail } from "./wal-tail.ts";

/**
 * Logs a place on the disk of the data, or one whose replica is gone, such as when its disk is not mounted.
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

/** `database` is as `readBirth`, and empty for a new one. Throws as `GenerationLease.check`. */
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

const defaultEveryMs = 3_600_000;

export interface MissingOptions {
  dataDir: string;
  notice: LogWriter["notice"];
  listMs?: number | undefined;
}

/** Lists a place hourly and after a restore test found damage, because nothing else reads what was sent before. */
export class MissingCheck {
  readonly #place: ReplicaTarget;
  readonly #options: MissingOptions;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #damagedAt = "";
  count = 0;

  constructor(place: ReplicaTarget, options: MissingOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** Whether a restore of the newest state lacks an object. Reports the missing object. */
  async isAnyMissing(last: SegmentId): Promise<boolean> {
    const { dataDir, notice, listMs = defaultEveryMs } = this.#options;
    const { at, message: failure = "" } = readLast(dataDir, "restore-test").last_failure ?? {};
    const damagedAt = failure.startsWith(replicaDamage) && at ? at : "";
    if (performance.now() - this.#checkedAt < listMs && damagedAt === this.#damagedAt) return false;
    const missing = await findMissing(this.#place, last, damagedAt).catch((error) => {
      ignoreUnverified(error);
      return `an intact snapshot (${error.message})`;
    });
    this.#checkedAt = performance.now();
    this.#damagedAt = damagedAt;
    if (missing === undefined) return false;
    notice("error", `The replica in ${this.#place.address} lacks ${missing}; a new snapshot is made there.`);
    this.count++;
    return true;
  }
}

/** Finds the first object that a restore of the newest state needs and a place lacks. */
async function findMissing(place: ReplicaTarget, last: SegmentId, damagedAt: string): Promise<string | undefined> {
  const snapshot = parseSegmentIds(await place.list(prefixes.snapshot)).at(-1);
  if (snapshot === undefined) return "its snapshot";
  const name = snapshotName(snapshot);
  const { header } = (await getObject<SnapshotHeader>(place, name)) ?? {};
  if (header === undefined) return name;
  if (header.at < damagedAt) return "a state that can be restored, as a restore test found";
  const parts = new Set(await place.list(prefixes.part));
  const part = header.parts.find((one) => !parts.has(one.name));
  if (part !== undefined) return part.name;
  const segments = mainChain(parseSegmentIds(await place.list(prefixes.segment, segmentName(snapshot))));
  let next = snapshot.sequence + 1;
  for (const { sequence } of segments) if (sequence === next) next++;
  return next > last.sequence ? undefined : `segment ${next}`;
}
