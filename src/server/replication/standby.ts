import { existsSync, readFileSync, renameSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { makeRestoreTempDir } from "../backup/restore/temp-dir.ts";
import { withSignal } from "../concurrency/with-timeout.ts";
import type { Config } from "../config/config.ts";
import { chownLike, copyFile, standbyFile, writeWhole } from "../config/data-dir.ts";
import { syncFile } from "../db/local/sync-file.ts";
import { AppError, unavailable, wrongState } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { applyChain, type ChainState } from "./chain.ts";
import { readClaim, readNewestClaim } from "./generation.ts";
import { listIds, type SegmentId, snapshotName } from "./names.ts";
import { ignoreUnverified } from "./objects.ts";
import { trackFailures } from "./place-health.ts";
import { fetchReplica } from "./rebuild.ts";
import type { ReplicaTarget } from "./target.ts";

const checkMs = 5000;

export interface StandbyState {
  place: string;
  url: string;
  state: ChainState | null;
  isApplying: boolean;
}

export interface StandbyOptions {
  config: Pick<Config, "dataDir">;
  notice: LogWriter["notice"];
  signal: AbortSignal;
  pollMs?: number;
}

export function readStandbyState(dataDir: string): StandbyState | undefined {
  const path = standbyFile(dataDir);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as StandbyState) : undefined;
}

/**
 * Restores the newest state of a replica to a copy, then applies each new segment. Makes a new copy if the old one
 * cannot be continued, or if the standby was killed while it changed the copy.
 */
export class Standby {
  readonly #place: ReplicaTarget;
  readonly #options: StandbyOptions;
  #known: StandbyState;
  #file: FileHandle | undefined;
  #isBroken = false;
  #isStuck = false;
  applied = 0;
  /** When the copy last contained all commits of the replica; undefined without a copy. */
  #currentAt: number | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  readonly #failures: ReturnType<typeof trackFailures>;

  constructor(place: ReplicaTarget, options: StandbyOptions) {
    this.#options = options;
    const { address } = place;
    this.#failures = trackFailures(
      options.notice,
      `the standby waits for ${address}`,
      `the standby follows ${address}`,
    );
    this.#place = {
      ...place,
      get: (name, limits) => withSignal(place.get(name, limits), options.signal),
      list: (prefix, after) => withSignal(place.list(prefix, after), options.signal),
    };
    const { dataDir } = options.config;
    const known = existsSync(copyFile(dataDir)) ? readStandbyState(dataDir) : undefined;
    const none = { place: address, url: "", state: null, isApplying: false };
    this.#known = known === undefined || known.isApplying ? none : known;
    this.#currentAt = this.#known.state ? Date.parse(this.#known.state.at) : undefined;
  }

  describe(): { message: string; lagSeconds: number | undefined } {
    const { place, state } = this.#known;
    const lagSeconds = this.#currentAt && Math.max(0, Date.now() - this.#currentAt) / 1000;
    const lag = `Its copy is ${lagSeconds?.toFixed(1)} s behind; the last change is of ${state?.at}.`;
    const copy = lagSeconds === undefined ? "It has no copy yet." : lag;
    const message = `This is a standby of ${place}. ${copy} ${this.#failures.last()?.message ?? ""}`.trimEnd();
    return { message, lagSeconds };
  }

  /** Follows the place until the signal aborts. `url` is the address of its health check. */
  async run(url: string): Promise<void> {
    const { signal, pollMs = 1000 } = this.#options;
    this.#write({ url });
    while (!signal.aborted) {
      let pauseMs = pollMs;
      try {
        await this.catchUp();
        this.#failures.end();
      } catch (error) {
        if (signal.aborted) break;
        pauseMs = this.#failures.begin(error);
      }
      await withSignal(Bun.sleep(pauseMs), signal).catch(() => {});
    }
    await this.close();
  }

  /**
   * Applies new segments, or makes a new copy. Returns false if the copy may still lack commits.
   * @throws notFound while the place has no state; unavailable if it cannot be read; validationFailed for damage.
   */
  async catchUp(): Promise<boolean> {
    const startedAt = Date.now();
    const snapshot = await this.#findSnapshot();
    const isWhole = await this.#applyNew();
    this.#isStuck = !isWhole;
    const { state } = this.#known;
    const isBehind = state === null || (snapshot !== undefined && snapshotName(snapshot) > snapshotName(state));
    if (this.#isBroken || isBehind) await this.#beginAnew();
    else if (isWhole) this.#currentAt = startedAt;
    return isWhole && !isBehind;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #findSnapshot(): Promise<SegmentId | undefined> {
    const { state } = this.#known;
    if (state === null) return undefined;
    if (!(await this.#isContinued(state))) this.#isBroken = true;
    if (!this.#isStuck && performance.now() - this.#checkedAt < checkMs) return undefined;
    const snapshots = await listIds(this.#place, "snapshot");
    this.#checkedAt = performance.now();
    return snapshots.at(-1);
  }

  /** Whether the place still has this replica. Throws unavailable without one, wrongState for another shop. */
  async #isContinued({ generation, database, claimed }: ChainState): Promise<boolean> {
    const { place } = this.#known;
    if (this.#isBroken) return true;
    // An earlier key may have signed the claim, which then cannot be verified.
    const claim = await readClaim(this.#place, generation).catch(ignoreUnverified);
    if (claim?.at === claimed) return true;
    const newest = await readNewestClaim(this.#place);
    if (newest === undefined) {
      // If a disk is not mounted, its mount point is an empty directory.
      const remedy = "Mount its disk, or start the server that replicates there.";
      throw unavailable(`The replica is no longer in ${place}.`, { remedy });
    }
    if (newest.claim.database !== database) {
      const remedy = "To follow it, start a standby with an empty --data-dir.";
      throw wrongState(`${place} has the replica of another shop (server on ${newest.claim.host}).`, { remedy });
    }
    this.#options.notice("warn", `a new replica was started in ${place} at ${newest.claim.at}; a new copy is made`);
    return false;
  }

  /** Applies the segments that the copy lacks. Returns whether the copy then has all of them. */
  async #applyNew(): Promise<boolean> {
    const { config, notice, signal } = this.#options;
    const { state } = this.#known;
    if (state === null || this.#isBroken) return false;
    try {
      this.#file ??= await open(copyFile(config.dataDir), "r+");
      const onApply = () => this.#write({ isApplying: true });
      const steps = applyChain(this.#file, this.#place, state, { consistentFrom: state.sequence, onApply, signal });
      for (let step = await steps.next(); ; step = await steps.next()) {
        if (step.done) return step.value;
        await this.#file.sync();
        this.applied++;
        this.#write({ state: step.value, isApplying: false });
      }
    } catch (error) {
      const isDamaged = error instanceof AppError && error.kind === "validationFailed";
      if (!isDamaged && !this.#known.isApplying) throw error;
      notice("warn", `the copy cannot be continued, and a new one is made: ${(error as Error).message}`);
      this.#isBroken = true;
      return false;
    }
  }

  async #beginAnew(): Promise<void> {
    const { config, notice, signal } = this.#options;
    const { dataDir } = config;
    const temp = await makeRestoreTempDir(dataDir, true);
    try {
      const options = { folder: temp.path, until: undefined, onStep: () => {}, signal };
      const { databasePath, state } = await fetchReplica(this.#place, options);
      await this.close();
      // `isApplying` records that the copy and the written state may not match until both are replaced.
      this.#write({ isApplying: true });
      syncFile(databasePath);
      chownLike(databasePath, dataDir);
      renameSync(databasePath, copyFile(dataDir));
      syncFile(dataDir);
      this.#write({ state, isApplying: false });
      this.#isBroken = false;
      notice("info", `the newest state of ${this.#known.place} was restored; the standby follows it`);
    } finally {
      temp.remove();
    }
  }

  #write(changed: Partial<StandbyState>): void {
    const { dataDir } = this.#options.config;
    this.#known = { ...this.#known, ...changed };
    writeWhole(dataDir, standbyFile(dataDir), `${JSON.stringify(this.#known)}\n`);
    syncFile(dataDir);
  }
}
