import { isUsableHash, ownPrefix } from "./imported-hash.ts";

/** Algorithm and costs, with which a hash begins. */
const kindPattern = /^(?:\$2[aby]\$(\d\d)\$|\$argon2(?:id|i|d)\$v=19\$m=(\d+),t=(\d+),p=\d\$)/;
/** Passwords may be imported with any costs: no refusal shall have to work through all of them. */
const maxImported = 4;
// What bcrypt takes 2^cost times, and argon2 so often for each KiB, measured against each other.
const kibPerBcryptRound = 90;
// Salt and digest of random texts that nobody kept.
const bcryptTail = "qpjc9RS.Tjc/pgXtC//nSOmG7m69bgw7yQ/Y0o75GTdB0xYvwOz3K";
const argon2Tail = "ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI";

/**
 * What is still to be verified so that a refusal has cost one hash of each kind in the store, whoever it is about: our
 * own kind, and the dearest of those that were imported.
 * @param kinds how the imported hashes of the store begin, each kind once.
 * @param verified what was verified already; null for the decoy of our own kind.
 * @returns hashes that no password is known for; null for the decoy of our own kind.
 */
export function hashesToVerify(kinds: readonly string[], verified: readonly (string | null)[]): (string | null)[] {
  const dearest = kinds
    .filter((kind) => isUsableHash(decoyOf(kind)))
    .toSorted((a, b) => costOf(b) - costOf(a))
    .slice(0, maxImported);
  const done = new Set(verified.map(kindOf));
  return [null, ...dearest].filter((kind) => !done.has(kind)).map((kind) => kind && decoyOf(kind));
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
