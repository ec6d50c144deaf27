import type { FileHandle } from "node:fs/promises";
import { damagedReplica } from "../backup/manifest.ts";
import { type Changes, pageBytes, type WalPosition } from "../db/local/wal-frames.ts";
import { type LastSegment, requireNewest } from "./generation.ts";
import { type ClaimedSegmentId, generationName, listIds, mainChain, type SegmentId, segmentName } from "./names.ts";
import { getObject, putObject, type StoredObject } from "./objects.ts";
import { decodeSegment, encodePages, type Segment, type SegmentHeader } from "./segment.ts";
import type { ReplicaTarget } from "./target.ts";

const aheadCount = 8;
/** All claims are listed once in this many checks, about once a minute. Other checks only request the next claim. */
const listEvery = 30;

export interface ChainState extends SegmentId {
  /** The hash of the segment with this id; undefined if the segment was never read. */
  hash: string | undefined;
  database: string;
  claimed: string;
  /** The file contains all commits until this time, RFC 3339. */
  at: string;
  /** The end of the segment in the WAL of its server; undefined when the segment was never read. */
  end?: WalPosition | undefined;
}

interface Limits {
  /** From this sequence on, the file is consistent. */
  consistentFrom: number;
  /** Epoch milliseconds. The first segment of a later time, and those after it, are not applied. */
  until?: number | undefined;
  onApply?: () => void;
  signal: AbortSignal;
}

/**
 * Applies the segments after `from` to a file, and yields the state after each one.
 * @returns false if segments were not applied, because they are later than `until` or need a newer snapshot.
 * @throws validationFailed, which names a segment that is damaged, missing, out of order or of another database;
 * unavailable if the place cannot be read.
 */
export async function* applyChain(
  file: FileHandle,
  place: ReplicaTarget,
  from: ChainState,
  { consistentFrom, until = Number.POSITIVE_INFINITY, onApply, signal }: Limits,
): AsyncGenerator<ChainState, boolean> {
  const ids = mainChain(await listIds(place, "segment", segmentName(from)));
  const overtaken = ids.find(({ sequence }) => sequence <= from.sequence);
  // If the segment is forged, reading it throws an error that says so.
  if (overtaken) await getObject(place, segmentName(overtaken));
  if (overtaken) throw damagedReplica(`${segmentName(overtaken)} replaced segments that were applied here`);
  let state = from;
  for await (const { id, object } of fetchAhead(place, ids, signal)) {
    if (state.sequence >= consistentFrom && Date.parse(state.at) >= until) return false;
    const segment = await decodeSegment(await object, segmentName(id));
    const { header } = segment;
    const isBeyond = header.isBase && !follows(state, header);
    if (id.sequence > consistentFrom && (isBeyond || Date.parse(header.at) > until)) return false;
    requireNext(state, id, segment);
    onApply?.();
    state = await applySegment(file, segment);
    yield state;
  }
  if (state.sequence < consistentFrom) throw damagedReplica(`segment ${state.sequence + 1} is missing`);
  return true;
}

async function* fetchAhead(place: ReplicaTarget, ids: readonly SegmentId[], signal: AbortSignal) {
  const fetching: { id: SegmentId; object: Promise<StoredObject<SegmentHeader> | undefined> }[] = [];
  let next = 0;
  for (;;) {
    while (next < ids.length && fetching.length < aheadCount) {
      const id = ids[next++] as SegmentId;
      const object = getObject<SegmentHeader>(place, segmentName(id));
      object.catch(() => {});
      fetching.push({ id, object });
    }
    const first = fetching.shift();
    if (first === undefined) return;
    signal.throwIfAborted();
    yield first;
  }
}

function follows(state: ChainState, { isBase, generation, claimed, previous }: Segment["header"]): boolean {
  // Commits before a base segment were lost. So it needs a snapshot of its generation. A snapshot has no hash.
  if (isBase) return state.hash === undefined && state.generation === generation && state.claimed === claimed;
  return previous?.generation === state.generation && (state.hash === undefined || previous.hash === state.hash);
}

function requireNext(state: ChainState, id: SegmentId, { header }: Segment): void {
  const name = segmentName(id);
  if (header.database !== state.database) throw damagedReplica(`${name} is of another database`);
  if (header.sequence !== id.sequence || header.generation !== id.generation) {
    throw damagedReplica(`${name} contains ${segmentName(header)}: it was renamed`);
  }
  if (id.sequence !== state.sequence + 1) throw damagedReplica(`segment ${state.sequence + 1} is missing`);
  if (!follows(state, header)) {
    throw damagedReplica(`${name} does not follow ${segmentName(state)}: one of them was replaced`);
  }
}

async function applySegment(file: FileHandle, { header, hash, numbers, pages }: Segment): Promise<ChainState> {
  for (const [index, number] of numbers.entries()) {
    await file.write(pages, index * pageBytes, pageBytes, (number - 1) * pageBytes);
  }
  await file.truncate(header.pageCount * pageBytes);
  const { generation, sequence, database, claimed, at, end } = header;
  return { generation, sequence, hash, database, claimed, at, end };
}

type Origin = Pick<SegmentHeader, "database" | "generation" | "claimed">;

export type ChainWriter = ReturnType<typeof createChainWriter>;

/** Writes the segments of one generation. Each segment contains the id and the hash of the one before it. */
export function createChainWriter(place: ReplicaTarget, origin: Origin, lastSegment: LastSegment | undefined) {
  const { id: lastId = { generation: origin.generation, sequence: 0 }, header: lastHeader } = lastSegment ?? {};
  let previous: { id: ClaimedSegmentId; hash: string | undefined } = {
    id: { ...lastId, claimed: lastHeader?.claimed ?? "" },
    hash: lastSegment?.hash,
  };
  let checks = 0;
  return {
    last: () => previous.id,

    /** Whether the place still has this server's claim and last segment. Throws conflict if it has a later claim. */
    async isInPlace(): Promise<boolean> {
      const { id, hash } = previous;
      await requireNewest(place, origin.generation, checks % listEvery === 0);
      checks++;
      const isClaimed = await place.has(generationName(origin.generation));
      return isClaimed && (hash === undefined || (await place.has(segmentName(id))));
    },

    /** Starts a part of the chain that needs a new snapshot, and returns the snapshot's id. */
    beginBase(): ClaimedSegmentId {
      // A sequence number is skipped, so that the new part does not seem to follow the last segment.
      const { generation, claimed } = origin;
      const id = { generation, claimed, sequence: previous.id.sequence + 1 };
      previous = { id, hash: undefined };
      return id;
    },

    /** Writes the next segment and returns its size. The segment contains all commits until `at`. */
    async append({ pages, pageCount, end }: Changes, at: Date): Promise<number> {
      const { id, hash } = previous;
      const header: SegmentHeader = {
        format: 1,
        ...origin,
        sequence: id.sequence + 1,
        previous: hash === undefined ? null : { ...id, hash },
        isBase: hash === undefined,
        at: at.toISOString(),
        pageCount,
        end,
      };
      const { hash: own, size } = await putObject(place, segmentName(header), header, await encodePages(pages));
      const { generation, sequence, claimed } = header;
      previous = { id: { generation, sequence, claimed }, hash: own };
      return size;
    },
  };
}
