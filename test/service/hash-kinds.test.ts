import { expect, test } from "bun:test";
import {
  hashesToVerify,
  isUsableHash,
  requireAffordableKind,
  verifyPassword,
} from "../../src/server/modules/passwords/password-hash.ts";

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

/** A hash of this kind that no password is known for. */
const hashOf = (kind: string) => (kind.startsWith("$2") ? `${kind}${tail}` : `${kind}${ownHash.slice(31)}`);

test("a refusal of any account verifies our own kind and each kind of the store once", () => {
  const kinds = [bcrypt4, bcrypt5, bcrypt12, large, largest, small, "$2b$31$", "x", ""];
  const same = (kind: string | null) => String(kind).replace(/^\$2[ay]/, "$$2b");
  const expected = [null, bcrypt4, bcrypt5, bcrypt12, large, largest, small].map(same).toSorted();
  for (const hash of [null, ownHash, "unusable", "$2b$31$", ...kinds.slice(0, 6).map(hashOf)]) {
    const own = hash === null || kinds.slice(0, 6).every((kind) => !hash.startsWith(kind)) ? [null] : kindsOf([hash]);
    expect([...own, ...kindsOf(hashesToVerify(kinds, [hash]))].map(same).toSorted()).toEqual(expected);
  }
  // The hash was changed between two tries of one sign-in.
  expect(kindsOf(hashesToVerify([bcrypt4, large], [hashOf(bcrypt4), ownHash]))).toEqual([large]);
});

test("variants of bcrypt with one cost are one kind", () => {
  expect(kindsOf(hashesToVerify(["$2a$05$", "$2b$05$", "$2y$05$"], [null]))).toEqual(["$2b$05$"]);
  expect(hashesToVerify(["$2a$05$", "$2b$05$"], [hashOf("$2y$05$"), null])).toEqual([]);
});

/** Imports the kinds that a store accepts, in this order, and returns them. */
function importKinds(kinds: string[]): string[] {
  const accepted: string[] = [];
  for (const kind of kinds) {
    try {
      requireAffordableKind("password_hash", hashOf(kind), accepted);
      accepted.push(kind);
    } catch (error) {
      expect(error).toMatchObject({ code: 5102, details: [{ field: "password_hash" }] });
    }
  }
  return accepted;
}

test("a store accepts the kinds of one system before and after it raised its costs", () => {
  for (const kinds of [
    ["$2y$10$", "$2y$12$"],
    ["$2a$12$", "$2b$12$", "$2y$12$", "$2y$10$"],
    ["$2b$10$", "$2b$11$", small],
    ["$argon2i$v=19$m=65536,t=3,p=1$", "$argon2id$v=19$m=65536,t=3,p=4$"],
  ]) {
    expect(importKinds(kinds)).toEqual(kinds);
  }
  const [many, ...others] = [largest, largest.replace("p=1", "p=2"), bcrypt12, largest.replace("p=1", "p=3")];
  expect(importKinds([many, ...others])).toEqual([largest, largest.replace("p=1", "p=2")]);
});

/** The cost of a kind in hashes of our own kind, by the times that were measured. */
function costOf(kind: string): number {
  const [, rounds, memory = 0, passes = 0, lanes = 0] = (/^\$2.\$(\d+)|m=(\d+),t=(\d+),p=(\d+)/.exec(kind) ?? []).map(
    Number,
  );
  const threads = lanes > 1 ? lanes * passes * 70 : 0;
  return rounds ? 2 ** (rounds - 12) * 9.5 : (memory * passes + threads) / (19_456 * 2);
}

test("whatever was imported, in whatever order, a refusal costs at most thirteen hashes of our own kind", () => {
  const bcrypt = ["12", "11", "10", "04"].flatMap((cost) => ["$2a", "$2b", "$2y"].map((name) => `${name}$${cost}$`));
  const argon2 = [65_536, 1900, 64].flatMap((memory) =>
    [3, 40, 99].flatMap((passes) => [1, 8].map((lanes) => `$argon2id$v=19$m=${memory},t=${passes},p=${lanes}$`)),
  );
  const cheap = Array.from({ length: 200 }, (_, n) => `$argon2d$v=19$m=${64 + n},t=1,p=8$`);
  const kinds = [...bcrypt, ...argon2.filter((kind) => isUsableHash(hashOf(kind))), ...cheap];
  for (const order of [kinds, kinds.toReversed(), kinds.toSorted(), cheap]) {
    const accepted = importKinds(order);
    const verified = hashesToVerify(accepted, []).map((hash) => (hash === null ? 1 : costOf(hash)));
    expect(verified.reduce((sum, cost) => sum + cost)).toBeLessThan(13);
    expect(verified.length).toBeLessThan(100);
  }
});

test("a decoy can be verified at its costs, and no known password matches it", async () => {
  for (const kind of [bcrypt4, bcrypt5, "$2a$04$", small, "$argon2d$v=19$m=64,t=2,p=2$"]) {
    const [decoy] = hashesToVerify([kind], [null]) as [string];
    expect([decoy.startsWith(kind.replace("$2y$", "$2b$").replace("$2a$", "$2b$")), isUsableHash(decoy)]).toEqual([
      true,
      true,
    ]);
    // Bun throws for an invalid hash instead of returning false.
    expect(await Bun.password.verify("U*U", decoy)).toBe(false);
    expect(await verifyPassword("U*U", decoy)).toBe(false);
  }
});
