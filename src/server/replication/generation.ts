import { statSync } from "node:fs";
import { hostname } from "node:os";
import { foreignObject } from "../backup/manifest.ts";
import { withTimeout } from "../concurrency/with-timeout.ts";
import { AppError, conflict, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { smallCallMs } from "../object-store/open-storage.ts";
import { generationName, listIds, mainChain, prefixes, type SegmentId, segmentName, snapshotName } from "./names.ts";
import { getObject, ignoreUnverified, seal } from "./objects.ts";
import type { SegmentHeader } from "./segment.ts";
import type { ReplicaTarget, readReplicaState } from "./target.ts";
import type { WalTail } from "./wal-tail.ts";

interface Claim {
  format: 1;
  database: string;
  host: string;
  data_dir: string;
  /** Tells the directory from one with the same path on another machine, which may also have the same host name. */
  directory: string;
  at: string;
}

/** The last segment of a place. It has neither header nor hash if it cannot be verified. */
export interface LastSegment {
  id: SegmentId;
  header?: SegmentHeader;
  hash?: string;
}

type PlaceState = Awaited<ReturnType<typeof readPlace>>;

/** Claims a generation, which stops servers of earlier ones. Returns undefined if another server has claimed it. */
export async function claimGeneration(
  place: ReplicaTarget,
  { database, dataDir, generation }: { database: string; dataDir: string; generation: number },
): Promise<Claim | undefined> {
  const own = { host: hostname(), data_dir: dataDir, directory: directoryId(dataDir) };
  const claim: Claim = { format: 1, database, ...own, at: new Date().toISOString() };
  const name = generationName(generation);
  return (await place.create(name, seal(place, name, claim).bytes)) ? claim : undefined;
}

function directoryId(path: string): string {
  const { ino, birthtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${ino}-${birthtimeMs}`;
}

/**
 * Reads the state of a place. The claim is not verified, because an earlier key may have signed it.
 * @throws validationFailed for damage, unavailable if the place does not answer.
 */
export async function readPlace(place: ReplicaTarget) {
  const { generation = 0, claim } = (await readNewestClaim({ ...place, isUnchecked: true })) ?? {};
  const lastSegment = await readLastSegment(place);
  const snapshots = await listIds(place, "snapshot");
  const newest = [...snapshots, ...(lastSegment ? [lastSegment.id] : [])].map(snapshotName).sort().at(-1) ?? "";
  return { generation, claim, lastSegment, newest };
}

function newerState(address: string, { host, data_dir, at }: Claim, lastSegment: LastSegment | undefined): AppError {
  const message = `${address} is the replica of the server on ${host} (${data_dir}). Its state of ${lastSegment?.header?.at ?? at} is not in this database.`;
  return conflict(message, {
    remedy: `For a drill or a copy of the shop, unset BODEGA_REPLICATE_TO. ${describeChoice(address)}`,
  });
}

function describeChoice(address: string): string {
  return (
    "To continue here, stop that server. Then restore its state here, or start with --replace-replica to keep this database. " +
    `Compare both first: bodega db restore ${address} --dry-run`
  );
}

/** Says how to restore the state before a moment. A segment without a header may be signed with an earlier key. */
export function describeKept({ address }: ReplicaTarget, { header }: LastSegment, at: string): string {
  const needs = header ? "" : ", use the secret key of that time or add --without-signature";
  return `${address} keeps its earlier state. To restore that state${needs}: bodega db restore ${address} --at ${at}`;
}

/**
 * Throws conflict if another server has claimed a later generation. The caller's server must then end.
 * @param isListed whether to list all claims. If not, only the next claim is read, because listing can be slow.
 */
export async function requireNewest(place: ReplicaTarget, generation: number, isListed = true): Promise<void> {
  const newest = isListed ? await readNewestGeneration(place) : generation + 1;
  const claim = newest > generation ? await readClaim(place, newest) : undefined;
  if (claim === undefined) return;
  const { host, data_dir, at } = claim;
  const { address } = place;
  throw conflict(
    `The server on ${host} (${data_dir}) has written to ${address} since ${at}. Only one server may write there.`,
    {
      remedy: describeChoice(address),
    },
  );
}

export async function readNewestGeneration(place: ReplicaTarget): Promise<number> {
  const name = (await place.list(prefixes.generation)).findLast((one) => /-\d{10}$/.test(one));
  return name === undefined ? 0 : Number(name.slice(prefixes.generation.length));
}

/** Returns the newest claim; undefined for a place without claims. Throws as `readClaim`. */
export async function readNewestClaim(place: ReplicaTarget) {
  const generation = await readNewestGeneration(place);
  if (generation === 0) return undefined;
  const claim = await readClaim(place, generation);
  if (claim === undefined)
    throw unavailable(`${generationName(generation)} was removed from ${place.address} just now.`);
  return { generation, claim };
}

/** Returns the claim of a generation; undefined if nobody has claimed it. Throws as `getObject`. */
export async function readClaim(place: ReplicaTarget, generation: number): Promise<Claim | undefined> {
  return (await getObject<Claim>(place, generationName(generation), smallCallMs))?.header;
}

async function readLastSegment(place: ReplicaTarget): Promise<LastSegment | undefined> {
  const last = mainChain(await listIds(place, "segment")).at(-1);
  if (last === undefined) return undefined;
  return { id: last, ...(await getObject<SegmentHeader>(place, segmentName(last)).catch(ignoreUnverified)) };
}

const checkMs = 5000;

export interface LeaseOptions {
  database: string;
  dataDir: string;
  /** Whether this server may replace the replica once, even if the replica has changes that its database lacks. */
  replaceReplica?: boolean | undefined;
  /** The state that the data directory had recorded for the place when this process opened it. */
  known: ReturnType<typeof readReplicaState>;
  tail: WalTail;
}

export class GenerationLease {
  readonly #place: ReplicaTarget;
  readonly #options: LeaseOptions;
  /** The ends of the segments that the database contained when it was opened: WAL positions as JSON. */
  readonly #ends = new Set<string>();
  #isOver = false;

  constructor(place: ReplicaTarget, options: LeaseOptions) {
    this.#place = place;
    this.#options = options;
    const { known } = options;
    if (known?.isUnchanged && known.end) this.#ends.add(JSON.stringify(known.end));
  }

  /** Throws conflict as `claim`. A place that does not answer in time is checked later. */
  async check(generation: number, notice: LogWriter["notice"]): Promise<void> {
    const late = () => unavailable(`${this.#place.address} did not answer for ${checkMs / 1000} s.`);
    const failure = await withTimeout(this.#require(generation), checkMs, late).catch((error: unknown) => error);
    if (!(failure instanceof AppError)) return;
    if (failure.kind === "conflict") throw failure;
    const { message, remedy = "" } = failure;
    notice("warn", `It is not known whether another server writes to the replica now: ${message} ${remedy}`.trimEnd());
  }

  /** Throws conflict if this server may not write to the place. `generation` is the last one of its directory, or 0. */
  async #require(generation: number): Promise<PlaceState> {
    const { database, dataDir, replaceReplica, known } = this.#options;
    const found = await readPlace(this.#place);
    const { claim, lastSegment, newest } = found;
    const wasHere = (known?.generation ?? 0) > 0;
    if (claim && claim.database !== database) {
      // A forged claim must not keep a server from its own place, so the claim's signature is verified.
      if (wasHere) await readClaim(this.#place, found.generation);
      throw conflict(`${this.#place.address} has the replica of another database.`, {
        remedy: "Choose an empty directory or another prefix for this database.",
      });
    }
    const isRestored = generation === 0 && known?.isSameFile && known.restored === newest;
    // This server's own claim, or that of the state it restored, is not verified: an earlier key may have signed it.
    if (claim === undefined || found.generation <= generation || isRestored) return found;
    await readClaim(this.#place, found.generation).catch((error: AppError) => {
      // Only a conflict prevents the start. A server that never replicated here must not start: its place may be wrong.
      throw wasHere || error.kind === "unavailable" ? error : conflict(error.message, { remedy: error.remedy });
    });
    if (replaceReplica && !this.#isOver) return found;
    const isSameDirectory = claim.data_dir === dataDir && claim.directory === directoryId(dataDir);
    const isOwn = claim.host === hostname() && isSameDirectory && wasHere;
    // A replaced server must not take the place back, even if the new server has written nothing.
    if (isOwn || (generation === 0 && this.#has(lastSegment))) return found;
    throw newerState(this.#place.address, claim, lastSegment);
  }

  /** Whether the database, when it was opened, contained the last segment. */
  #has(lastSegment: LastSegment | undefined): boolean {
    const end = lastSegment?.header?.end;
    if (end === undefined) return false;
    const { known, tail } = this.#options;
    if (known?.isUnchanged && !this.#isOver && tail.resume(end)) this.#ends.add(JSON.stringify(end));
    return this.#ends.has(JSON.stringify(end));
  }

  /**
   * Claims the next generation of the place.
   * @returns the last segment of the place, whether this database continues it, and when the generation was claimed.
   * @throws conflict if the place has a newer state. With the option `replaceReplica`, or if this directory of this machine
   * wrote that state, there is no conflict.
   */
  async claim(last: number) {
    const { database, dataDir } = this.#options;
    for (;;) {
      const found = await this.#require(last);
      const generation = Math.max(found.generation, last) + 1;
      const { lastSegment: { id } = { id: undefined } } = found;
      const isForged = id !== undefined && id.generation >= generation;
      if (isForged) throw foreignObject(`no server claimed the generation of ${segmentName(id)}`);
      const claim = await claimGeneration(this.#place, { database, dataDir, generation });
      if (claim === undefined) continue;
      // The previous server may have written meanwhile, so the last segment is read again.
      const lastSegment = await readLastSegment(this.#place);
      const continues = this.#has(lastSegment);
      // `#ends` describes the database at its opening. Later writes make it out of date.
      this.#ends.clear();
      this.#isOver = true;
      return { generation, lastSegment, continues, at: claim.at };
    }
  }
}
