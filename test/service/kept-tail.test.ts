import { describe, expect, spyOn, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { KeptTail } from "../../src/server/api/kept-tail.ts";
import { uniform } from "../support/random.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Kind = keyof typeof kinds;

const random = uniform(8);
const below = (limit: number) => Math.floor((random.next().value as number) * limit);
const repeat = (length: number, make: () => string) => {
  let text = "";
  while (text.length < length) text += make();
  return text.slice(0, length);
};

/** Functions that return a text of the given length in UTF-16 units. */
const kinds = {
  "a product list": (length: number) =>
    repeat(length, () =>
      JSON.stringify({ id: crypto.randomUUID(), title: `Lamp ${below(100)}`, price: below(10_000) }),
    ),
  "one repeated letter": (length: number) => "a".repeat(length),
  "random characters": (length: number) => repeat(length, () => String.fromCharCode(below(128))),
  "random characters of all scripts": (length: number) => repeat(length, () => String.fromCharCode(below(0xd800))),
  "Japanese with pictures": (length: number) =>
    repeat(length, () => `${"価格の".repeat(below(9))}🏮${below(100)}`).toWellFormed(),
};
const lengths = [0, 1, 3, 1023, 65_535, 65_536, 65_537, 131_072, 131_073];
const heads = ["", `{"request_id":"${crypto.randomUUID()}`, "é", "x".repeat(256), "z".repeat(65_535)];

const decoders = {
  gzip: { bun: Bun.gunzipSync, node: gunzipSync },
  zstd: { bun: Bun.zstdDecompressSync, node: zstdDecompressSync },
} as const;
const codings = ["gzip", "zstd"] as const;

function expectText(bytes: Uint8Array, text: string) {
  // Compares the bytes, because a failed comparison of long texts would print a message for minutes.
  expect(Buffer.compare(bytes, Buffer.from(text))).toBe(0);
}

describe("a new head and a cached tail together are one valid compressed message", () => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    test(kind, async () => {
      for (const length of [...lengths, below(200_000)]) {
        const text = kinds[kind](length);
        const tail = new KeptTail(text);
        expectText(await tail.join("{", undefined), `{${text}`);
        for (const head of [...heads, "h".repeat(below(65_536))]) {
          for (const coding of codings) {
            const message = await tail.join(head, coding);
            for (const decode of Object.values(decoders[coding])) expectText(decode(message), head + text);
          }
        }
      }
    });
  }
});

test("a message with a cached tail of many compression windows is one valid message", async () => {
  const text = kinds["a product list"](5_000_000);
  const tail = new KeptTail(text);
  for (const coding of codings) expectText(decoders[coding].node(await tail.join("{", coding)), `{${text}`);
});

test("the gzip command accepts checksum and length of a message with a cached tail", async () => {
  const text = kinds["a product list"](50_000);
  const message = await new KeptTail(text).join(heads[1] as string, "gzip");
  const { stdout, stderr, exitCode } = Bun.spawnSync(["gzip", "-dc"], { stdin: message });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  expectText(stdout, heads[1] + text);
});

test("the window of a zstd message is large enough for the tail, and small enough for browsers", async () => {
  // The size of the window (RFC 8878, section 3.1.1.1.2).
  const windowOf = (message: Bytes) => 2 ** (10 + ((message[5] as number) >> 3));
  for (const [length, window] of [
    [2 ** 17, 2 ** 17],
    [2 ** 17 + 1, 2 ** 18],
    [20_000_000, 2 ** 23],
  ] as const) {
    expect(windowOf(await new KeptTail("a".repeat(length)).join("{", "zstd"))).toBe(window);
  }
});

test("a short tail is compressed at once, and a long tail in a thread, only once for all concurrent replies", async () => {
  const inThread = spyOn(Bun, "zstdCompress");
  for (const coding of codings) {
    expect(new KeptTail("a".repeat(65_536)).join("{", coding)).toBeInstanceOf(Uint8Array);
    const text = kinds["random characters"](100_000);
    const tail = new KeptTail(text);
    const replies = await Promise.all(["1", "2", "3"].map((head) => tail.join(head, coding)));
    for (const [i, reply] of replies.entries()) expectText(decoders[coding].bun(reply as Bytes), `${i + 1}${text}`);
    expect(tail.join("4", coding)).toBeInstanceOf(Uint8Array);
  }
  expect(inThread).toHaveBeenCalledTimes(1);
  inThread.mockRestore();
});
