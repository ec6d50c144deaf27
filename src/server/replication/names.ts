/** Locates a segment or snapshot in the chain. Sequences continue across generations. */
export interface Link {
  generation: number;
  sequence: number;
}

export type ClaimedLink = Link & { claimed: string };

const linkForm = /^(?:segment|snapshot)-(\d{10})-(\d{12})$/;
export const prefixes = {
  generation: "generation-",
  segment: "segment-",
  snapshot: "snapshot-",
  part: "part-",
} as const;

/** Names sort by generation, then by sequence. */
export function generationName(generation: number): string {
  return `${prefixes.generation}${pad(generation, 10)}`;
}

export function segmentName({ generation, sequence }: Link): string {
  return `${prefixes.segment}${pad(generation, 10)}-${pad(sequence, 12)}`;
}

/** A snapshot contains everything up to the segment of this link. */
export function snapshotName({ generation, sequence }: Link): string {
  return `${prefixes.snapshot}${pad(generation, 10)}-${pad(sequence, 12)}`;
}

export function partName({ generation, sequence }: Link, part: number): string {
  return `${prefixes.part}${pad(generation, 10)}-${pad(sequence, 12)}-${pad(part, 6)}`;
}

export function parseLinks(names: readonly string[]): Link[] {
  return names.flatMap((name) => {
    const [, generation, sequence] = linkForm.exec(name) ?? [];
    return sequence === undefined ? [] : [{ generation: Number(generation), sequence: Number(sequence) }];
  });
}

/**
 * Leaves out what servers wrote after another one had taken over. A later generation replaces what the earlier one
 * wrote from its first segment on.
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
