import { expect, test } from "bun:test";
import { hashesToVerify, isUsableHash, verifyPassword } from "../../src/server/modules/passwords/password-hash.ts";

const [bcrypt4, bcrypt5, bcrypt12] = ["$2b$04$", "$2y$05$", "$2a$12$"];
const [small, large] = ["$argon2i$v=19$m=64,t=1,p=1$", "$argon2id$v=19$m=65536,t=2,p=1$"];
const largest = "$argon2id$v=19$m=65536,t=3,p=1$";
const ownHash =
  "$argon2id$v=19$m=19456,t=2,p=1$ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI";
const tail = "qpjc9RS.Tjc/pgXtC//nSOmG7m69bgw7yQ/Y0o75GTdB0xYvwOz3K";

/** The beginnings of the hashes; null for our own kind. */
const kindsOf = (hashes: (string | null)[]) =>
  hashes.map((hash) => hash && (hash.startsWith("$2") ? hash.slice(0, 7) : hash.slice(0, hash.indexOf(",p=") + 5)));

test("without imported hashes nothing more is verified", () => {
  for (const verified of [null, ownHash, "unusable", "$2b$31$"]) expect(hashesToVerify([], [verified])).toEqual([]);
});

test("verified hashes and those to verify are one of each kind", () => {
  const kinds = [bcrypt4, bcrypt5, large];
  expect(kindsOf(hashesToVerify(kinds, [null]))).toEqual([large, bcrypt5, bcrypt4]);
  expect(kindsOf(hashesToVerify(kinds, [ownHash]))).toEqual([large, bcrypt5, bcrypt4]);
  expect(kindsOf(hashesToVerify(kinds, ["unusable"]))).toEqual([large, bcrypt5, bcrypt4]);
  expect(kindsOf(hashesToVerify(kinds, [`${bcrypt5}${tail}`]))).toEqual([null, large, bcrypt4]);
  // The hash was changed between two tries of one sign-in.
  expect(kindsOf(hashesToVerify(kinds, [`${bcrypt5}${tail}`, ownHash]))).toEqual([large, bcrypt4]);
});

test("of many kinds the most expensive that fit the limit are verified, and none that would be refused as a hash", () => {
  const kinds = [small, bcrypt4, "$2b$31$", "$2b$13$", large, "$2b$06$", bcrypt12, "x", ""];
  expect(kindsOf(hashesToVerify(kinds, [null]))).toEqual([bcrypt12, "$2b$06$", bcrypt4, small]);
  expect(kindsOf(hashesToVerify([large, largest, small], [null]))).toEqual([largest, large, small]);
});

/** The cost of a hash in hashes of our own kind, by the times that were measured. */
function costOf(hash: string | null): number {
  if (hash === null || hash.startsWith(ownHash.slice(0, 31))) return 1;
  const [, rounds, memory, passes] = (/^\$2.\$(\d+)|m=(\d+),t=(\d+)/.exec(hash) ?? []).map(Number);
  return rounds ? 2 ** (rounds - 12) * 9.5 : ((memory ?? 0) * (passes ?? 0)) / (19_456 * 2);
}

test("no refusal costs more than twelve hashes of our own kind, whatever was imported", () => {
  const families = ["$2a", "$2b", "$2y"].flatMap((name) => ["12", "11", "10"].map((cost) => `${name}$${cost}$`));
  const argon2 = ["id", "i", "d"].flatMap((name) =>
    [1, 2, 3].map((lanes) => `$argon2${name}$v=19$m=65536,t=3,p=${lanes}$`),
  );
  const kinds = [...families, ...argon2, small, large];
  const totals = [null, ...kinds].map((kind) => {
    // The hash of the account was verified first: one whose kind begins this way.
    const hash = kind && (kind.startsWith("$2") ? `${kind}${tail}` : `${kind}${ownHash.slice(31)}`);
    return [hash, ...hashesToVerify(kinds, [hash])].reduce((sum, one) => sum + costOf(one), 0);
  });
  expect(Math.max(...totals)).toBeLessThan(12);
  expect(Math.max(...totals) - Math.min(...totals)).toBeLessThan(1);
});

test("where all kinds fit, a refusal of any account verifies the same ones", () => {
  const kinds = [bcrypt5, large, small, "$2b$10$"];
  const expected = [null, ...kinds].map(String).toSorted();
  for (const kind of kinds) {
    const hash = kind.startsWith("$2") ? `${kind}${tail}` : `${kind}${ownHash.slice(31)}`;
    expect([kind, ...kindsOf(hashesToVerify(kinds, [hash]))].map(String).toSorted()).toEqual(expected);
  }
});

test("a decoy can be verified at its costs, and no known password matches it", async () => {
  for (const kind of [bcrypt4, bcrypt5, "$2a$04$", small, "$argon2d$v=19$m=64,t=2,p=2$"]) {
    const [decoy] = hashesToVerify([kind], [null]) as [string];
    expect([decoy.startsWith(kind), isUsableHash(decoy)]).toEqual([true, true]);
    // Bun throws for an invalid hash instead of returning false.
    expect(await Bun.password.verify("U*U", decoy)).toBe(false);
    expect(await verifyPassword("U*U", decoy)).toBe(false);
  }
});
