/**
 * The candidate most similar to a misspelt word, or undefined. At most one edit per three characters, and at least one;
 * a swap of neighbours is one edit.
 */
export function suggestWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  const meant = word.toLowerCase();
  for (const candidate of candidates) {
    const known = candidate.toLowerCase();
    // The lengths alone differ too much, so the distance need not be computed.
    if (Math.abs(known.length - meant.length) >= bestDistance) continue;
    const distance = measureDistance(meant, known);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, replacements and neighbour swaps. */
export function measureDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
