import { describe, expect, test } from "bun:test";
import decodeQR from "qr/decode.js";
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

  for (const [what, title, email] of [
    ["short names", "Lamps", "ada@example.com"],
    ["long names", "L".repeat(300), `${"a".repeat(64)}@${"b".repeat(60)}.example.com`],
    ["names of four bytes a letter", "𠀀".repeat(200), `${"𝒜".repeat(64)}@example.com`],
  ] as const) {
    test(`the QR code of ${what} decodes to the address`, async () => {
      const uri = await otpauthUri(secret, title, email);
      expect(decodeQR(rasterise(await drawQrCode(uri)))).toBe(uri);
    });
  }

  test("the QR code contains no scripts or external resources", async () => {
    const svg = await drawQrCode(await otpauthUri(secret, '"><script>alert(1)</script>', "ada@example.com"));
    expect(svg).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 \d+ \d+"[^>]*><path[^>]*><path[^>]*><\/svg>$/,
    );
    expect(svg).not.toMatch(/script|href|url\(/);
  });
});

/** The pixels of our SVG: white, and dark where the second path runs. */
function rasterise(svg: string) {
  const scale = 4;
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const side = size * scale;
  const data = new Uint8Array(side * side * 4).fill(255);
  const paths = [...svg.matchAll(/ d="([^"]+)"/g)].map((match) => match[1] as string);
  for (const [, x = "", y = "", run = ""] of (paths[1] as string).matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
      const start = (row * side + Number(x) * scale) * 4;
      for (let i = start; i < start + Number(run) * scale * 4; i++) if (i % 4 !== 3) data[i] = 0;
    }
  }
  return { width: side, height: side, data };
}
