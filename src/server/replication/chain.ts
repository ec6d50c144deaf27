import type { FileHandle } from "node:fs/promises";
import { type Link, mainChain, parseLinks, prefixes, segmentName } from "./names.ts";
import type { Place } from "./place.ts";
import { damagedReplica, decodeSegment, type Segment } from "./segment.ts";
import { pageBytes, type WalPosition } from "./wal-frames.ts";

/** Segments that are fetched ahead. */
const aheadCount = 8;

/** Up to where a database file has what a chain of segments says. */
export interface ChainState extends Link {
  /** Of the segment of this link; undefined where it was never read. */
  hash: string | undefined;
  database: string;
  /** All commits until then are in the file, RFC 3339. */
  at: string;
  /** Where the segment ends in the WAL of its server; undefined where it was never read. */
  end?: WalPosition | undefined;
}

interface Limits {
  /** The file is whole with the segment of this sequence, and not before. */
  through: number;
  /** Milliseconds since 1970: later segments are not applied, except up to the sequence `settled`. */
  until?: number | undefined;
  settled?: number;
  /** Called before a segment changes the file. */
  onApply?: () => void;
  signal: AbortSignal;
}

/**
 * Applies the segments behind a state to a database file, in their order; yields the state after each.
 * @returns whether all of the place is in the file: not when some may not be applied, because it is later or only
 * a new snapshot leads to it.
 * @throws validationFailed naming a segment that is damaged, missing, out of order or of another database; unavailable
 * when the place cannot be read.
 */
export async function* applyChain(
  file: FileHandle,
  place: Place,
  from: ChainState,
  { through, until = Number.POSITIVE_INFINITY, settled = 0, onApply, signal }: Limits,
): AsyncGenerator<ChainState, boolean> {
  const links = mainChain(parseLinks(await place.list(prefixes.segment, segmentName(from))));
  const overtaken = links.find(({ sequence }) => sequence <= from.sequence);
  if (overtaken) throw damagedReplica(`${segmentName(overtaken)} replaced segments that were applied here`);
  let state = from;
  for await (const { link, bytes } of fetchAhead(place, links, signal)) {
    if (state.sequence >= Math.max(through, settled) && Date.parse(state.at) >= until) return false;
    const name = segmentName(link);
    if (bytes === undefined) throw damagedReplica(`${name} is missing`);
    const segment = await decodeSegment(bytes, name);
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

/** Segments in their order, some of them fetched ahead. */
async function* fetchAhead(place: Place, links: readonly Link[], signal: AbortSignal) {
  const fetching: { link: Link; bytes: Promise<Uint8Array | undefined> }[] = [];
  let next = 0;
  for (;;) {
    while (next < links.length && fetching.length < aheadCount) {
      const link = links[next++] as Link;
      const bytes = place.get(segmentName(link));
      // Thrown when its turn comes.
      bytes.catch(() => {});
      fetching.push({ link, bytes });
    }
    const first = fetching.shift();
    if (first === undefined) return;
    signal.throwIfAborted();
    yield { link: first.link, bytes: await first.bytes };
  }
}

/** Whether a segment leads on from a state, as far as it says. */
function follows(state: ChainState, { isBase, generation, previous }: Segment["header"]): boolean {
  // Commits before a base were not seen: only its snapshot has them, which is of its generation and was never a segment.
  if (isBase) return state.hash === undefined && state.generation === generation;
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
  const { generation, sequence, database, at, end } = header;
  return { generation, sequence, hash, database, at, end };
}
