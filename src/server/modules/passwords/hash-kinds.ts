import { isUsableHash, ownPrefix } from "./imported-hash.ts";

/** Algorithm and costs, the beginning of a hash. */
const kindPattern = /^(?:\$2[aby]\$(\d\d)\$|\$argon2(?:id|i|d)\$v=19\$m=(\d+),t=(\d+),p=\d\$)/;
/** Imported hashes may have many costs; a refusal verifies at most this many. */
const maxImported = 4;
// The time of one bcrypt round in KiB of argon2, measured.
const kibPerBcryptRound = 90;
// Salt and digest of random texts that were thrown away.
const bcryptTail = "qpjc9RS.Tjc/pgXtC//nSOmG7m69bgw7yQ/Y0o75GTdB0xYvwOz3K";
const argon2Tail = "ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI";

/**
 * Hashes that are still to be verified so that a refusal takes as long for every account: one of our own kind, and the most
 * expensive imported kinds of the store.
 * @param kinds how the imported hashes of the store begin, each kind once.
 * @param verified hashes that were verified already; null for the decoy of our own kind.
 * @returns hashes that no password is known for; null for the decoy of our own kind.
 */
export function hashesToVerify(kinds: readonly string[], verified: readonly (string | null)[]): (string | null)[] {
  const costliest = kinds
    .filter((kind) => isUsableHash(decoyOf(kind)))
    .toSorted((a, b) => costOf(b) - costOf(a))
    .slice(0, maxImported);
  const done = new Set(verified.map(kindOf));
  return [null, ...costliest].filter((kind) => !done.has(kind)).map((kind) => kind && decoyOf(kind));
}

/** Null for our own kind, whose decoy also stands in for a hash that cannot be used. */
function kindOf(hash: string | null): string | null {
  if (hash === null || hash.startsWith(ownPrefix) || !isUsableHash(hash)) return null;
  return kindPattern.exec(hash)?.[0] ?? null;
}

function decoyOf(kind: string): string {
  return `${kind}${kind.startsWith("$2") ? bcryptTail : argon2Tail}`;
}

/** Only for comparison. */
function costOf(kind: string): number {
  const [, rounds, kib, passes] = kindPattern.exec(kind) ?? [];
  return rounds === undefined ? Number(kib) * Number(passes) : 2 ** Number(rounds) * kibPerBcryptRound;
}
