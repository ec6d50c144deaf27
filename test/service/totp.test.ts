import { describe, expect, test } from "bun:test";
import { drawQrCode, makeSecret, matchStep, otpauthUri } from "../../src/server/modules/two-factor/totp.ts";
import { codeAt } from "../support/totp.ts";

/** `12345678901234567890` in base32: the secret of RFC 6238, appendix B. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const at = 1_893_456_000_000;

describe("codes", () => {
  for (const [seconds, code] of [
    [59, "287082"],
    [1111111109, "081804"],
    [1111111111, "050471"],
    [1234567890, "005924"],
    [2000000000, "279037"],
    [20000000000, "353130"],
  ] as const) {
    test(`at ${seconds} s the code is the one of RFC 6238, appendix B`, async () => {
      expect(await codeAt(secret, seconds * 1000)).toBe(code);
      expect(await matchStep(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
    });
  }

  test("a code is valid in its half minute and the two beside it, to the millisecond", async () => {
    const code = await codeAt(secret, at);
    const step = at / 30_000;
    expect(await matchStep(secret, code, at - 30_001)).toBeNull();
    expect(await matchStep(secret, code, at - 30_000)).toBe(step);
    expect(await matchStep(secret, code, at + 59_999)).toBe(step);
    expect(await matchStep(secret, code, at + 60_000)).toBeNull();
  });

  test("only the same six digits match", async () => {
    const code = await codeAt(secret, at);
    for (const other of ["", code.slice(1), `${code}0`, `0${code}`, "abcdef", "١٢٣٤٥٦"]) {
      expect(await matchStep(secret, other, at)).toBeNull();
    }
  });

  test("secrets are 160 random bits in base32", async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, makeSecret));
    for (const one of secrets) expect(one).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).toBe(20);
  });
});

describe("the data for an authenticator", () => {
  test("the address contains store, account and secret", async () => {
    const uri = new URL(await otpauthUri(secret, "Tea & Lamps", "ada@example.com"));
    expect([uri.protocol, uri.host]).toEqual(["otpauth:", "totp"]);
    expect(decodeURIComponent(uri.pathname)).toBe("/Tea & Lamps:ada@example.com");
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: "Tea & Lamps",
      secret,
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
  });

  test("a colon in a name does not shift the separator of the names", async () => {
    const uri = new URL(await otpauthUri(secret, "Shop: Berlin", "ada@example.com"));
    expect(decodeURIComponent(uri.pathname)).toBe("/Shop  Berlin:ada@example.com");
  });

  test("the QR code contains no scripts or external resources", async () => {
    const svg = await drawQrCode(await otpauthUri(secret, '"><script>alert(1)</script>', "ada@example.com"));
    expect(svg).toMatch(/^<svg viewBox="0 0 \d+ \d+"[^>]*><rect[^>]*\/><path[^>]*\/><\/svg>$/);
    expect(svg).not.toMatch(/script|href|url\(/);
  });
});
