import type { FileHandle } from "node:fs/promises";
import { damagedReplica } from "../backup/manifest.ts";
import { type Changes, pageBytes, type WalPosition } from "../db/local/wal-frames.ts";
import { type Head, requireNewest } from "./generation.ts";
import { type ClaimedLink, generationName, type Link, mainChain, parseLinks, prefixes, segmentName } from "./names.ts";
import { getObject, putObject, type Replica, type StoredObject } from "./objects.ts";
import { decodeSegment, encodePages, type Segment, type SegmentHeader } from "./segment.ts";

const aheadCount = 8;
/** A server lists all claims every so many checks, about once a minute. Otherwise it asks only for the next claim. */
const listEvery = 30;

export interface ChainState extends Link {
  /** The hash of the segment of this link; undefined when that was never read. */
  hash: string | undefined;
  database: string;
  claimed: string;
  /** The file has all commits until this time, RFC 3339. */
  at: string;
  /** The end of the segment in the WAL of its server; undefined when the segment was never read. */
  end?: WalPosition | undefined;
}

interface Limits {
  /** The file is consistent only from this sequence on. */
  through: number;
  /** Epoch milliseconds. Later segments are not applied, except up to the sequence `settled`. */
  until?: number | undefined;
  settled?: number;
  onApply?: () => void;
  signal: AbortSignal;
}

/**
 * Yields the state after each segment.
 * @returns false when some may not be applied, because they are later or only a new snapshot leads to them.
 * @throws validationFailed naming a segment that is damaged, missing, out of order or of another database; unavailable
 * when the place cannot be read.
 */
export async function* applyChain(
  file: FileHandle,
  place: Replica,
  from: ChainState,
  { through, until = Number.POSITIVE_INFINITY, settled = 0, onApply, signal }: Limits,
): AsyncGenerator<ChainState, boolean> {
  const links = mainChain(parseLinks(await place.list(prefixes.segment, segmentName(from))));
  const overtaken = links.find(({ sequence }) => sequence <= from.sequence);
  // Reading a forged segment throws its own error.
  if (overtaken) await getObject(place, segmentName(overtaken));
  if (overtaken) throw damagedReplica(`${segmentName(overtaken)} replaced segments that were applied here`);
  let state = from;
  for await (const { link, object } of fetchAhead(place, links, signal)) {
    if (state.sequence >= Math.max(through, settled) && Date.parse(state.at) >= until) return false;
    const segment = await decodeSegment(await object, segmentName(link));
    const { header } = segment;
    const isBeyond = header.isBase && !follows(state, header);
    const isLater = link.sequence > settled && Date.parse(header.at) > until;
    if (link.sequence > through && (isBeyond || isLater)) return false;
    requireNext(state, link, segment);
    onApply?.();
    state = await applySegment(file, segment);
    yield state;
  }
  if (state.sequence < through) throw damagedReplica(`segment ${state.sequence + 1} is missing`);
  return true;
}

async function* fetchAhead(place: Replica, links: readonly Link[], signal: AbortSignal) {
  const fetching: { link: Link; object: Promise<StoredObject<SegmentHeader> | undefined> }[] = [];
  let next = 0;
  for (;;) {
    while (next < links.length && fetching.length < aheadCount) {
      const link = links[next++] as Link;
      const object = getObject<SegmentHeader>(place, segmentName(link));
      object.catch(() => {});
      fetching.push({ link, object });
    }
    const first = fetching.shift();
    if (first === undefined) return;
    signal.throwIfAborted();
    yield first;
  }
}

function follows(state: ChainState, { isBase, generation, claimed, previous }: Segment["header"]): boolean {
  // Commits before a base were not seen. Only the snapshot of its own generation has them, and no segment has its link.
  if (isBase) return state.hash === undefined && state.generation === generation && state.claimed === claimed;
  return previous?.generation === state.generation && (state.hash === undefined || previous.hash === state.hash);
}

function requireNext(state: ChainState, link: Link, { header }: Segment): void {
  const name = segmentName(link);
  if (header.database !== state.database) throw damagedReplica(`${name} is of another database`);
  if (header.sequence !== link.sequence || header.generation !== link.generation) {
    throw damagedReplica(`${name} contains ${segmentName(header)}: it was renamed`);
  }
  if (link.sequence !== state.sequence + 1) throw damagedReplica(`segment ${state.sequence + 1} is missing`);
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

/** Writes the segments of one generation. Each names the segment before it. */
export class ChainWriter {
  readonly #place: Replica;
  readonly #origin: Origin;
  #previous: { link: ClaimedLink; hash: string | undefined };
  #last: SegmentHeader | undefined;
  #checks = 0;

  constructor(place: Replica, origin: Origin, head: Head | undefined) {
    this.#place = place;
    this.#origin = origin;
    const { generation, sequence } = head?.link ?? { generation: origin.generation, sequence: 0 };
    this.#previous = { link: { generation, sequence, claimed: head?.header?.claimed ?? "" }, hash: head?.hash };
    this.#last = head?.header;
  }

  get last(): ClaimedLink {
    return this.#previous.link;
  }

  /**
   * Whether the place still has this claim and the last segment. Throws conflict when a later generation is claimed.
   */
  async isInPlace(): Promise<boolean> {
    const { link, hash } = this.#previous;
    await requireNewest(this.#place, this.#origin.generation, this.#checks % listEvery === 0);
    this.#checks++;
    const isClaimed = await this.#place.has(generationName(this.#origin.generation));
    return isClaimed && (hash === undefined || (await this.#place.has(segmentName(link))));
  }

  /** Starts a part of the chain that only a new snapshot leads to, and returns the link of that snapshot. */
  beginBase(): ClaimedLink {
    // The skipped number keeps any segment from seeming to follow the last one.
    const { generation, claimed } = this.#origin;
    const link = { generation, claimed, sequence: this.last.sequence + 1 };
    this.#previous = { link, hash: undefined };
    return link;
  }

  /** Writes the next segment and returns its size. It contains everything that was committed until `at`. */
  async append({ pages, pageCount, end }: Changes, at: Date): Promise<number> {
    const { link, hash } = this.#previous;
    const { at: before = "", setBacks = [] } = this.#last ?? {};
    const now = { sequence: link.sequence + 1, at: at.toISOString() };
    const header: SegmentHeader = {
      format: 1,
      ...this.#origin,
      ...now,
      previous: hash === undefined ? null : { ...link, hash },
      isBase: hash === undefined,
      setBacks: now.at < before ? [...setBacks.slice(-20), now] : setBacks,
      pageCount,
      end,
    };
    const { hash: own, size } = await putObject(this.#place, segmentName(header), header, await encodePages(pages));
    const { generation, sequence, claimed } = header;
    this.#previous = { link: { generation, sequence, claimed }, hash: own };
    this.#last = header;
    return size;
  }
}
