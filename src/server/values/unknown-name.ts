import { type AppError, conflict, notFound } from "../errors.ts";

/** Maximum number of names that are compared, because a store may have millions of users. */
export const maxCompared = 2000;

/** Returns notFound with the most similar name. `store` is a namespace; undefined if the unknown thing is a store. */
export function unknownName(thing: string, given: string, names: Iterable<string>, store?: string): AppError {
  const meant = suggestWord(given, names);
  const quoted = meant && !/^[\w@.+:/*-]+$/.test(meant) ? JSON.stringify(meant) : meant;
  const hint = meant === undefined ? "" : `Did you mean ${quoted}? `;
  const place = store === undefined ? {} : { in: `store ${JSON.stringify(store)}` };
  const list = store === undefined ? "bodega tenant list" : `bodega ${thing} list -n ${store}`;
  return notFound(thing, given, { ...place, remedy: `${hint}List them all: ${list}` });
}

export function ambiguousName(things: string, name: string, store: string, ids: readonly string[]): AppError {
  const message = `${ids.length} ${things} in store ${JSON.stringify(store)} match ${JSON.stringify(name)}.`;
  return conflict(message, { remedy: `Name one by its id: ${ids.join(", ")}` });
}

/** Returns the most similar candidate. One edit or swap is allowed per three characters of `word`, but at least one. */
export function suggestWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  const meant = word.toLowerCase();
  for (const candidate of candidates) {
    const known = candidate.toLowerCase();
    // The distance is at least the difference of the lengths.
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
function measureDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      (rows[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost, swapped);
    }
  }
  return at(a.length, b.length);
}
