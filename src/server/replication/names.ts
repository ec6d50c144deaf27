/** A segment's or snapshot's place in the chain. Sequences go on counting across generations. */
export interface Link {
  generation: number;
  sequence: number;
}

/** A link with the time when the server took its generation. */
export type ClaimedLink = Link & { claimed: string };

const linkForm = /^(?:segment|snapshot)-(\d{10})-(\d{12})$/;
export const prefixes = {
  generation: "generation-",
  segment: "segment-",
  snapshot: "snapshot-",
  part: "part-",
} as const;

/** The name of the claim of a generation. Names sort by generation, then by sequence. */
export function generationName(generation: number): string {
  return `${prefixes.generation}${pad(generation, 10)}`;
}

export function segmentName({ generation, sequence }: Link): string {
  return `${prefixes.segment}${pad(generation, 10)}-${pad(sequence, 12)}`;
}

/** The name of a snapshot, which has everything up to the segment of this link. */
export function snapshotName({ generation, sequence }: Link): string {
  return `${prefixes.snapshot}${pad(generation, 10)}-${pad(sequence, 12)}`;
}

/** The name of one part of a snapshot; parts count from 1. */
export function partName({ generation, sequence }: Link, part: number): string {
  return `${prefixes.part}${pad(generation, 10)}-${pad(sequence, 12)}-${pad(part, 6)}`;
}

/** The links of segments or snapshots; other names are left out. */
export function parseLinks(names: readonly string[]): Link[] {
  return names.flatMap((name) => {
    const [, generation, sequence] = linkForm.exec(name) ?? [];
    return sequence === undefined ? [] : [{ generation: Number(generation), sequence: Number(sequence) }];
  });
}

/**
 * Leaves out what servers wrote after another one had taken over: a later generation begins behind the segment that it
 * follows, and what the earlier one wrote from there on belongs to nobody.
 */
export function mainChain(links: readonly Link[]): Link[] {
  const chain: Link[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (const link of [...links].sort((a, b) => b.generation - a.generation || b.sequence - a.sequence)) {
    if (link.sequence >= next) continue;
    chain.push(link);
    next = link.sequence;
  }
  return chain.reverse();
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
