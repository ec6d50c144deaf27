/**
 * What differs between two texts, line by line: `- ` before what stands, `+ ` before what is wanted, in their order.
 * Empty lines are left out, since they say nothing.
 */
export function compareLines(standing: string, wanted: string): string[] {
  const old = standing.split("\n");
  const next = wanted.split("\n");
  const shared = lengthsOfShared(old, next);
  const told: string[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < next.length) {
    if (at < old.length && to < next.length && old[at] === next[to]) {
      at++;
      to++;
      continue;
    }
    const goesOn = (shared[at + 1]?.[to] ?? -1) >= (shared[at]?.[to + 1] ?? -1);
    const takesOld = to >= next.length || (at < old.length && goesOn);
    const line = takesOld ? `- ${old[at++]}` : `+ ${next[to++]}`;
    if (line.trim().length > 1) told.push(line);
  }
  return told;
}

/** How many lines the two have in common, in order, from line `a` of the one and line `b` of the other on. */
function lengthsOfShared(old: readonly string[], next: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(next.length + 1).fill(0));
  const row = (a: number) => lengths[a] as number[];
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = next.length - 1; b >= 0; b--) {
      const longest = Math.max(row(a + 1)[b] as number, row(a)[b + 1] as number);
      row(a)[b] = old[a] === next[b] ? (row(a + 1)[b + 1] as number) + 1 : longest;
    }
  }
  return lengths;
}
