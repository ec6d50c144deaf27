import type { ObjectStorage } from "../object-store/storage.ts";

/** The position of a segment or snapshot in the chain. Sequences continue across generations. */
export interface SegmentId {
  generation: number;
  sequence: number;
}

export type ClaimedSegmentId = SegmentId & { claimed: string };

const idForm = /^(?:segment|snapshot)-(\d{10})-(\d{12})$/;
export const prefixes = {
  generation: "generation-",
  segment: "segment-",
  snapshot: "snapshot-",
  part: "part-",
} as const;

const pad = (number: number, digits: number) => String(number).padStart(digits, "0");

/** All names sort by generation, then by sequence. */
export const generationName = (generation: number) => prefixes.generation + pad(generation, 10);

const formatId = ({ generation, sequence }: SegmentId) => `${pad(generation, 10)}-${pad(sequence, 12)}`;

export const segmentName = (id: SegmentId) => prefixes.segment + formatId(id);

/** Names a snapshot by the last segment whose changes it contains. */
export const snapshotName = (id: SegmentId) => prefixes.snapshot + formatId(id);

export const partName = (id: SegmentId, part: number) => `${prefixes.part}${formatId(id)}-${pad(part, 6)}`;

/** Lists the segments or snapshots of a place by generation and sequence. With `after`, only those after this name. */
export async function listIds(place: Pick<ObjectStorage, "list">, kind: "segment" | "snapshot", after?: string) {
  return (await place.list(prefixes[kind], after)).flatMap((name): SegmentId[] => {
    const [, generation, sequence] = idForm.exec(name) ?? [];
    return sequence === undefined ? [] : [{ generation: Number(generation), sequence: Number(sequence) }];
  });
}

/** Returns the valid segments in order. From its first sequence on, a generation replaces earlier ones. */
export function mainChain(ids: readonly SegmentId[]): SegmentId[] {
  const chain: SegmentId[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (const id of [...ids].sort((a, b) => b.generation - a.generation || b.sequence - a.sequence)) {
    if (id.sequence >= next) continue;
    chain.push(id);
    next = id.sequence;
  }
  return chain.reverse();
}
