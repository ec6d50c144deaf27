import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { availableParallelism } from "node:os";
import {
  hashing,
  hashPassword,
  isUsableHash,
  needsRehash,
  parsePasswordHash,
  shareCores,
  verifyPassword,
} from "../../src/server/modules/passwords/password-hash.ts";
import { goodPassword } from "../support/account.ts";
import { cachedHashing, realHashing } from "../support/cached-hashing.ts";
import { failureOf } from "../support/failure.ts";

// Hashes from the tests of the reference implementations, crypt_blowfish and argon2.
const long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const foreign: [name: string, password: string, hash: string][] = [
  ["bcrypt $2a$", "U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ["bcrypt $2b$", "U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ["bcrypt $2y$", "U*U", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ["bcrypt of 72 bytes", long, "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"],
  ["argon2id", "password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"],
  ["argon2i", "password", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"],
  [
    "argon2id, 2 lanes",
    "password",
    "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
  ],
];
const salt = "c29tZXNhbHQ";
const tag = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

beforeAll(() => void Object.assign(Bun.password, realHashing));
afterAll(() => void Object.assign(Bun.password, cachedHashing));
afterEach(() => Object.assign(hashing.limits, { permits: availableParallelism(), maxWaiting: 128, maxWaitMs: 10_000 }));

describe("our own hashes", () => {
  test("a password matches only its own hash, which is argon2id with 19 MiB and two passes", async () => {
    const hash = await hashPassword(goodPassword);
    expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect(hash).not.toBe(await hashPassword(goodPassword));
    expect(await verifyPassword(goodPassword, hash)).toBe(true);
    for (const other of [`${goodPassword} `, goodPassword.toLowerCase(), goodPassword.slice(1), ""]) {
      expect([other, await verifyPassword(other, hash)]).toEqual([other, false]);
    }
    expect(needsRehash(hash)).toBe(false);
    expect(isUsableHash(hash)).toBe(true);
  });

  test("a letter in one code point equals the same letter in two code points", async () => {
    const hash = await hashPassword("Passe-Partout-É1");
    expect(await verifyPassword("Passe-Partout-E\u03011", hash)).toBe(true);
  });

  test("passwords that differ only after the 72nd byte have different hashes", async () => {
    const hash = await hashPassword(`${long}a`);
    expect(await verifyPassword(`${long}a`, hash)).toBe(true);
    expect(await verifyPassword(`${long}b`, hash)).toBe(false);
  });
});

test("a missing or unusable hash matches no password, not even an empty password", async () => {
  const verify = spyOn(Bun.password, "verify");
  const costly = [`$argon2id$v=19$m=262144,t=10,p=1$${salt}$${tag}`, foreign[0]?.[2].replace("$05$", "$13$") as string];
  for (const hash of [null, "", "$2a$05$short", ...costly, goodPassword]) {
    for (const password of [goodPassword, ""]) {
      expect([hash, password, await verifyPassword(password, hash)]).toEqual([hash, password, false]);
    }
  }
  // Only the dummy hash was computed. These hashes were not, because they are broken or take too long.
  const computed = verify.mock.calls.map(([, hash]) => String(hash).slice(0, 31));
  expect(new Set(computed)).toEqual(new Set(["$argon2id$v=19$m=19456,t=2,p=1$"]));
  verify.mockRestore();
});

describe("imported hashes", () => {
  for (const [name, password, hash] of foreign) {
    test(`${name} is accepted, matches only its password, and is replaced at a login`, async () => {
      expect(parsePasswordHash("password_hash", hash)).toBe(hash);
      expect(await verifyPassword(password, hash)).toBe(true);
      expect(await verifyPassword(`${password.slice(0, -1)}x`, hash)).toBe(false);
      expect(needsRehash(hash)).toBe(true);
    });
  }

  test("bcrypt compares only the first 72 bytes of a longer password, and computes one hash", async () => {
    const verify = spyOn(Bun.password, "verify");
    for (const [password, isRight] of [
      [`${long} and more`, true],
      [`${long.slice(0, -1)}x and more`, false],
    ] as const) {
      expect(await verifyPassword(password, foreign[3]?.[2] as string)).toBe(isRight);
    }
    expect(verify).toHaveBeenCalledTimes(2);
    verify.mockRestore();
  });

  const cheap = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
  test("a hash of another kind, form or cost is refused, and the error does not repeat it", async () => {
    for (const hash of [
      "",
      "password",
      "5f4dcc3b5aa765d61d8327deb882cf99",
      "{SSHA}abc",
      "$1$salt$abcdefghijklmnopqrstuv",
      "$pbkdf2-sha256$29000$abc$def",
      "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
      cheap.replace("$04$", "$03$"),
      cheap.replace("$04$", "$13$"),
      cheap.replace("$04$", "$31$"),
      cheap.replace("$04$", "$4$"),
      `${cheap}x`,
      `${cheap}\n`,
      cheap.slice(0, -1),
      `$argon2id$m=65536,t=2,p=1$${salt}$${tag}`,
      `$argon2id$v=16$m=65536,t=2,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=65537,t=1,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=65536,t=4,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=19661,t=10,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=262144,t=10,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=65536,t=0,p=1$${salt}$${tag}`,
      `$argon2id$v=19$m=65536,t=1,p=9$${salt}$${tag}`,
      `$argon2id$v=19$m=65536,t=1,p=0$${salt}$${tag}`,
      `$argon2id$v=19$m=15,t=1,p=2$${salt}$${tag}`,
      `$argon2id$v=19$m=65536,t=1,p=1$${salt}$short`,
      `$argon2id$v=19$m=65536,t=1,p=1$c2FsdA$${tag}`,
      `$argon2id$v=19$m=65536,t=1,p=1$${salt}$${tag}=`,
    ]) {
      const error = await failureOf(() => parsePasswordHash("password_hash", hash));
      expect(error).toMatchObject({ code: 5102, details: [{ field: "password_hash" }] });
      if (hash.length > 10) expect(JSON.stringify(error) + (error as Error).message).not.toContain(hash);
    }
  });

  test("hashes with the highest accepted costs can be verified", async () => {
    for (const hash of [
      `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${tag}`,
      cheap.replace("$04$", "$12$"),
      `$argon2d$v=19$m=8,t=10,p=1$${salt}$${tag}`,
      `$argon2i$v=19$m=64,t=1,p=8$${salt}$${tag}`,
    ]) {
      expect(parsePasswordHash("password_hash", hash)).toBe(hash);
      expect(await verifyPassword("password", hash)).toBe(false);
    }
  });
});

describe("the queue of hashes", () => {
  /** Starts work that runs until the test finishes it. */
  function startWork() {
    const state = { hasBegun: false, end: () => {} };
    const work = () =>
      new Promise<void>((resolve) => {
        state.hasBegun = true;
        state.end = resolve;
      });
    return Object.assign(state, { done: hashing.run(work) });
  }

  test("the queue of hashes runs as many hashes at once as permitted, and then the others in order of arrival", async () => {
    Object.assign(hashing.limits, { permits: 2 });
    const work = Array.from({ length: 4 }, () => startWork());
    const begun = () => work.map(({ hasBegun }) => hasBegun);
    expect(begun()).toEqual([true, true, false, false]);
    work[1]?.end();
    await work[1]?.done;
    expect(begun()).toEqual([true, true, true, false]);
    for (const one of work) {
      one.end();
      await one.done;
    }
  });

  test("the queue of hashes releases the permit of work that fails", async () => {
    Object.assign(hashing.limits, { permits: 1, maxWaiting: 8 });
    const failing = () => hashing.run(() => Promise.reject(new Error("broken")));
    const outcomes = await Promise.allSettled([failing(), failing(), hashPassword(goodPassword)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  test("the queue of hashes lets each process use at least one core", async () => {
    shareCores(1000);
    const work = [startWork(), startWork()];
    expect(work.map(({ hasBegun }) => hasBegun)).toEqual([true, false]);
    for (const one of work) {
      one.end();
      await one.done;
    }
  });

  test("the queue of hashes does not block the event loop", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await Promise.all(Array.from({ length: 4 }, () => hashPassword(goodPassword)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});
