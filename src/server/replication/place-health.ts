import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { readLast } from "../backup/location.ts";
import { replicaDamage } from "../backup/manifest.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { type AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { smallCallMs } from "../object-store/open-storage.ts";
import { GenerationLease, readNewestGeneration } from "./generation.ts";
import { openReplica, type ReplicaTarget, readReplicaState } from "./target.ts";
import { WalTail } from "./wal-tail.ts";

/**
 * Warns of a place on the disk of the data, and of a missing replica, for example if its disk is not mounted.
 * @param known the generation that this data directory last had there; 0 for none.
 */
export async function checkPlace(place: ReplicaTarget, known: number, dataDir: string, notice: LogWriter["notice"]) {
  const shared = await describeShared(place.address, dataDir);
  if (shared) notice("warn", shared);
  if (known === 0 || (await readNewestGeneration(place)) > 0) return;
  const message = `The replica that was in ${place.address} is gone, and another one begins there.`;
  notice("error", `${message} Is its disk mounted?`);
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

export interface ReplicationStatus {
  place: string;
  /** The age of the newest state that a restore would return. */
  lag_seconds: number;
  last_snapshot_at: string | null;
  failure: { since: string; message: string } | null;
}

const repeatMs = 3_600_000;
/** A place counts as working after this time, because it may fail every few seconds. */
const steadyMs = 60_000;
const retryMs = { least: 1000, most: 5000 };
const hangingMs = 10_000;

/** Logs a repeated message once, then hourly. */
export class Failures {
  readonly #write: LogWriter["notice"];
  readonly #texts: readonly [fails: string, works: string];
  readonly #loggedAt = new Map<string, number>();
  #failedAt: number | undefined;
  #delayMs = retryMs.least;
  #calledAt: number | undefined;
  last: ReplicationStatus["failure"] = null;

  /** `texts`: the beginning of each failure message, and the message that the place works again. */
  constructor(write: LogWriter["notice"], ...texts: readonly [fails: string, works: string]) {
    this.#write = write;
    this.#texts = texts;
  }

  readonly notice: LogWriter["notice"] = (level, message) => {
    if (Date.now() - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return;
    this.#loggedAt.set(message, Date.now());
    this.#write(level, message);
  };

  /** Returns the milliseconds until the next try, which double with each failure. */
  begin(error: unknown): number {
    const { message: what, remedy = "Check the place, its account and the network." } = error as AppError;
    const message = `${what} ${remedy}`;
    this.#calledAt = undefined;
    this.#failedAt = Date.now();
    this.notice("error", `${this.#texts[0]}: ${message}`);
    this.last = { since: this.last?.since ?? new Date().toISOString(), message };
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, retryMs.most);
    return delayMs;
  }

  call(): void {
    this.#calledAt = Date.now();
  }

  /** Returns the last failure, or that a call hangs. */
  present(place: string): ReplicationStatus["failure"] {
    const since = this.#calledAt ?? Date.now();
    const ms = Date.now() - since;
    if (this.last !== null || ms < hangingMs) return this.last;
    return {
      since: new Date(since).toISOString(),
      message: `${place} has not answered for ${Math.round(ms / 1000)} s.`,
    };
  }

  end(): void {
    this.#calledAt = undefined;
    this.last = null;
    this.#delayMs = retryMs.least;
    if (this.#failedAt === undefined || Date.now() - this.#failedAt < steadyMs) return;
    this.#failedAt = undefined;
    this.#loggedAt.clear();
    this.#write("info", this.#texts[1]);
  }
}
