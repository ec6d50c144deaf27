import { expect, test } from "bun:test";
import { hashesToVerify, isUsableHash, verifyPassword } from "../../src/server/modules/passwords/password-hash.ts";

const [bcrypt4, bcrypt5, bcrypt14] = ["$2b$04$", "$2y$05$", "$2a$14$"];
const [small, large] = ["$argon2i$v=19$m=64,t=1,p=1$", "$argon2id$v=19$m=65536,t=2,p=1$"];
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

test("of many kinds the four most expensive are verified, and none that would be refused as a hash", () => {
  const kinds = [small, bcrypt4, "$2b$31$", large, "$2b$06$", bcrypt14, "x", ""];
  expect(kindsOf(hashesToVerify(kinds, [null]))).toEqual([bcrypt14, large, "$2b$06$", bcrypt4]);
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
