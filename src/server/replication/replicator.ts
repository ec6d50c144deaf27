import type { FileDatabase } from "../db/local/file-database.ts";
import type { WalPosition } from "../db/local/wal-frames.ts";
import { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { formatBytes, MiB } from "../values/units.ts";
import { type ChainWriter, createChainWriter } from "./chain.ts";
import { describeKept, GenerationLease, type LeaseOptions, requireNewest } from "./generation.ts";
import type { ClaimedSegmentId } from "./names.ts";
import { checkPlace, type ReplicationStatus, trackFailures, watchDamage } from "./place-health.ts";
import { createPurge, SnapshotCopy } from "./snapshot.ts";
import { type ReplicaTarget, readReplicaState, writeReplicaState } from "./target.ts";
import { type WalRead, WalTail } from "./wal-tail.ts";

const ownCheckMs = 2000;
const snapshotMs = 3_600_000;
const lastMs = 5000;

interface ReplicatorOptions extends Omit<LeaseOptions, "known" | "tail"> {
  place: ReplicaTarget;
  notice: LogWriter["notice"];
  version: string;
  keepMs: number;
  /** The time between reads of the WAL. Together with sending, this must be less than a second. */
  pollMs?: number;
}

/** Sends a snapshot, and then the commits in segments. It makes one call at a time, and delays no other work. */
export class Replicator {
  readonly #db: FileDatabase;
  readonly #options: ReplicatorOptions;
  readonly #tail: WalTail;
  readonly #purge: ReturnType<typeof createPurge>;
  readonly #lease: GenerationLease;
  /** The generation that this server has claimed. Before its claim, the last one of its data directory; 0 for none. */
  #generation: number;
  #chain: ChainWriter | undefined;
  /** The last segment that is certainly in the database file. */
  #inFile: ClaimedSegmentId | undefined;
  #snapshot: SnapshotCopy | undefined;
  #lastSnapshot = { bytes: 0, time: Number.NEGATIVE_INFINITY };
  #bytesSinceSnapshot = 0;
  /** All commits until this time were sent. Epoch milliseconds. */
  #sentAt = Date.now();
  /** Commits since this time can be restored only after a new snapshot. */
  #baseLostAt: number | undefined;
  #ownCheckedAt = Number.NEGATIVE_INFINITY;
  readonly #failures: ReturnType<typeof trackFailures>;
  readonly #isDamaged: () => boolean;
  #isReplaced = false;
  #isStopping = false;
  #wake = () => {};
  #running: Promise<void> | undefined;
  readonly #replaced = Promise.withResolvers<AppError>();
  /** Resolves when another server has claimed the place. This server must then stop. */
  readonly replaced = this.#replaced.promise;

  constructor(db: FileDatabase, options: ReplicatorOptions) {
    this.#db = db;
    this.#options = options;
    const { place, keepMs } = options;
    const known = readReplicaState(db.path, place.address);
    this.#generation = known?.isSameFile ? known.generation : 0;
    this.#tail = new WalTail(`${db.path}-wal`, known?.isUnchanged ? known.end : null, {
      emptied: (isWhole) => this.#noteEmptied(isWhole),
      wanted: () => this.#wake(),
    });
    this.#lease = new GenerationLease(place, { ...options, known, tail: this.#tail });
    this.#purge = createPurge(place, keepMs);
    this.#failures = trackFailures(options.notice, "replication fails and is tried again", "replication works again");
    this.#isDamaged = watchDamage(place, options.dataDir, options.notice);
    db.observeWal(this.#tail);
  }

  /** Throws conflict if this server may not claim the place. If the place does not answer in time, it is checked later. */
  check(): Promise<void> {
    return this.#lease.check(this.#generation, this.#options.notice);
  }

  begin(): void {
    this.#running = this.#run();
  }

  status(): ReplicationStatus {
    return {
      place: this.#options.place.address,
      lag_seconds: Math.max(0, Date.now() - (this.#baseLostAt ?? this.#sentAt)) / 1000,
      failure: this.#failures.last(),
    };
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await Promise.race([this.#running, Bun.sleep(lastMs)]);
    const bytes = formatBytes(this.#tail.unsentBytes());
    const since = new Date(this.#baseLostAt ?? this.#sentAt).toISOString();
    const message = `${this.#options.place.address} lacks the changes since ${since} (${bytes}); the next start sends them`;
    if (this.#tail.unsentBytes() > 0) this.#options.notice("error", message);
  }

  async #run(): Promise<void> {
    const { pollMs = 400 } = this.#options;
    for (let isLast = false; !isLast; ) {
      isLast = this.#isStopping;
      try {
        this.#chain ??= await this.#connect();
        const startedAt = performance.now();
        const rest = () => pollMs - (performance.now() - startedAt);
        while (await this.#step(this.#chain)) await this.#pause(rest());
        this.#failures.end();
        await this.#pause(rest());
      } catch (error) {
        if (error instanceof AppError && error.kind === "conflict") {
          this.#replaced.resolve(error);
          // This server still sends its last changes, for the server that replaces it.
          this.#isReplaced = this.#chain !== undefined;
          if (!this.#isReplaced) return;
          isLast = false;
          continue;
        }
        await this.#pause(this.#failures.begin(error));
      }
    }
  }

  /** Claims the place, and continues its chain if the database contained the last segment when it was opened. */
  async #connect(): Promise<ChainWriter> {
    const { place, database, dataDir, notice } = this.#options;
    await checkPlace(place, this.#generation, dataDir, this.#failures.notice);
    const { generation, lastSegment, continues, at } = await this.#lease.claim(this.#generation);
    const chain = createChainWriter(place, { database, generation, claimed: at }, lastSegment);
    this.#generation = generation;
    this.#ownCheckedAt = performance.now();
    if (lastSegment?.header) this.#sentAt = Date.parse(lastSegment.header.at);
    notice("info", `replication to ${place.address} ${continues ? "goes on" : "begins with a snapshot"}`);
    if (continues) {
      // The last snapshot's size and time are unknown here, so the time of the next one counts from now.
      this.#lastSnapshot.time = performance.now();
      this.#writeState(this.#tail.end);
      return chain;
    }
    if (lastSegment) notice("info", describeKept(place, lastSegment, at));
    this.#beginAnew(chain);
    return chain;
  }

  /** Makes one call to the place. Returns false if there is nothing to do. */
  async #step(chain: ChainWriter): Promise<boolean> {
    if (!this.#isReplaced && performance.now() - this.#ownCheckedAt > ownCheckMs) {
      const { place, notice } = this.#options;
      const isInPlace = await chain.isInPlace();
      this.#ownCheckedAt = performance.now();
      if (!isInPlace) {
        notice("error", `parts of the replica disappeared from ${place.address}; a new replica begins there`);
        this.#chain = undefined;
        this.#snapshot = undefined;
        this.#tail.restart();
        return false;
      }
      if (this.#snapshot === undefined && this.#isDamaged()) this.#beginAnew(chain);
    }
    const readAt = new Date();
    const read = await this.#tail.read();
    if (read === "lost") return this.#beginAnew(chain);
    if (read !== "nothing") await this.#send(chain, read, readAt);
    else if (this.#snapshot?.isCopied) await this.#finishSnapshot(chain, this.#snapshot);
    else this.#sentAt = readAt.getTime();
    if (this.#isStopping || this.#isReplaced) return read !== "nothing";
    return (await this.#copySnapshot()) || (await this.#purge.step()) || (read !== "nothing" && !read.isAll);
  }

  async #send(chain: ChainWriter, read: WalRead, readAt: Date): Promise<void> {
    if (!this.#isReplaced) await requireNewest(this.#options.place, this.#generation, false);
    const snapshot = this.#snapshot;
    const isWithCopy = snapshot?.isCopied && (read.isAll || read.isHeld);
    // After a partial read, later commits are missing. So the segment gets the time of the last complete read.
    const at = read.isAll ? readAt : new Date(this.#sentAt);
    this.#bytesSinceSnapshot += await chain.append(read.changes, at);
    this.#tail.advance(read);
    if (read.isAll) this.#sentAt = readAt.getTime();
    if (isWithCopy && snapshot === this.#snapshot) await this.#finishSnapshot(chain, snapshot);
  }

  #beginAnew(chain: ChainWriter): true {
    this.#baseLostAt ??= this.#sentAt;
    this.#tail.restart();
    this.#writeState(null);
    this.#snapshot = new SnapshotCopy(this.#options.place, this.#db.path, chain.beginBase());
    return true;
  }

  /** Copies the next part of a snapshot. Starts one when the segments since the last snapshot exceed its size. */
  async #copySnapshot(): Promise<boolean> {
    const { bytes, time } = this.#lastSnapshot;
    // The minimum avoids new snapshots of a small database after a few segments.
    const isDue = this.#bytesSinceSnapshot > Math.max(bytes, MiB) && performance.now() - time > snapshotMs;
    if (this.#snapshot === undefined && isDue && this.#inFile !== undefined) {
      this.#snapshot = new SnapshotCopy(this.#options.place, this.#db.path, this.#inFile);
    }
    if (this.#snapshot === undefined || this.#snapshot.isCopied) return false;
    await this.#snapshot.copyPart();
    return true;
  }

  async #finishSnapshot(chain: ChainWriter, snapshot: SnapshotCopy): Promise<void> {
    const { database, version, place, notice } = this.#options;
    await snapshot.finish({ database, version, at: new Date().toISOString(), consistentFrom: chain.last().sequence });
    this.#snapshot = undefined;
    this.#baseLostAt = undefined;
    this.#lastSnapshot = { bytes: snapshot.bytes, time: performance.now() };
    this.#bytesSinceSnapshot = 0;
    this.#purge.begin();
    notice("info", `snapshot made in ${place.address} (${formatBytes(snapshot.bytes)})`);
  }

  #noteEmptied(isWhole: boolean): void {
    const { address } = this.#options.place;
    this.#writeState(this.#tail.end);
    this.#inFile = this.#chain?.last();
    if (isWhole) return;
    this.#failures.notice("error", `the WAL was emptied before ${address} had all of it; a new snapshot is made there`);
  }

  #writeState(end: WalPosition | null): void {
    writeReplicaState(this.#db.path, { place: this.#options.place.address, generation: this.#generation, end });
  }

  async #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#isStopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    setTimeout(resolve, ms).unref();
    await promise;
  }
}
