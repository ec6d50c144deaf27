import { describe, expect, test } from "bun:test";
import { guardFormula, readGuarded } from "../../src/server/values/csv-injection.ts";
import { InexactNumber, parseExactJson } from "../../src/server/values/exact-json.ts";
import { quoteWord } from "../../src/server/values/shell-quote.ts";
import { formatBytes, formatDuration, MiB, parseDuration } from "../../src/server/values/units.ts";
import { uniform } from "../support/random.ts";

const hour = 3_600_000;

test("sizes are formatted in KiB, MiB and GiB", () => {
  expect([0, 1023, 1536, 200 * MiB].map(formatBytes)).toEqual(["0 bytes", "1023 bytes", "1.5 KiB", "200 MiB"]);
});

test("durations are formatted in their largest unit, and parsed from a short form such as 90s", () => {
  expect([400, 1000, -59_000, hour - 1000, hour, 49 * hour].map((ms) => formatDuration(ms))).toEqual([
    ...["0 seconds", "1 second", "59 seconds", "1 hour", "1 hour", "2 days"],
  ]);
  expect([301_000, 36 * hour, 720 * hour].map((ms) => formatDuration(ms, true))).toEqual([
    ...["301 seconds", "36 hours", "30 days"],
  ]);
  expect(["45s", "30m", "24h", "90d", "2w"].map(parseDuration)).toEqual([
    ...[45_000, 1_800_000, 24 * hour, 90 * 24 * hour, 14 * 24 * hour],
  ]);
  expect(["", "24", "h", "1.5h", "-1h", "1y"].map(parseDuration)).toEqual(Array(6).fill(undefined));
});

test("arguments are quoted for a POSIX shell if necessary", () => {
  expect(["/srv/shop", "it's here", ""].map(quoteWord)).toEqual(["/srv/shop", "'it'\\''s here'", "''"]);
});

test.each([
  ["Mug", "Mug"],
  ["a-b = c; d", "a-b = c; d"],
  ["=1", "'=1"],
  ["'=1", "''=1"],
  ["'tis", "'tis"],
  ["\t=1", "'\t'=1"],
  ["\nfirst", "'\nfirst"],
  ["first\r\n\r\nlast", "first\r\n\r\nlast"],
  ["Mug;=cmd()", "Mug;'=cmd()"],
  ["Mug;;@x\t+1;'-2", "Mug;;'@x\t'+1;''-2"],
  ["list:\n- one\r\n- two\r＝3", "list:\n'- one\r\n'- two\r'＝3"],
])("a CSV cell with %j is written as %j, and read back unchanged", (text, cell) => {
  expect([guardFormula(text), readGuarded(cell)]).toEqual([cell, text]);
});

test("no part of a CSV cell can begin a formula, with any separator, and every text can be read back", () => {
  const random = uniform(12);
  const characters = ["=", "+", "-", "@", "＝", "'", "'", ";", ";", "\t", "\r", "\n", "a", " "];
  for (let round = 0; round < 4000; round++) {
    const length = Math.floor(random.next().value * 12);
    const text = Array.from({ length }, () => characters[Math.floor(random.next().value * characters.length)]).join("");
    const cell = guardFormula(text);
    expect(readGuarded(cell)).toBe(text);
    for (const part of cell.split(/[;\t\r\n]/)) expect(part).not.toMatch(/^[=+\-@＝＋－＠]/);
    expect(cell).not.toMatch(/^[\t\r\n]/);
  }
});

describe("a JSON number that a double can represent is parsed exactly, in any notation", () => {
  test.each([
    ["19.99", 19.99],
    ["1.1000000000000", 1.1],
    ["1e2", 100],
    ["1E+2", 100],
    ["100e-2", 1],
    ["0e5", 0],
    ["0.00000000000000", 0],
    ["-19.99", -19.99],
    ["9007199254740992", 9007199254740992],
    ["123456789012345.67", 123456789012345.67],
    ["100000000000000000000", 1e20],
    ["0.1234567890123456", 0.1234567890123456],
  ])("%s", (text, value) => {
    expect(parseExactJson(`{"price":${text}}`)).toEqual({ price: value });
  });
});

describe("a JSON number that a double would round is parsed as an InexactNumber", () => {
  test.each([
    ..."19.990000000000000001 9007199254740993 1e400 1e-400 0.1000000000000000055511151231257827".split(" "),
    ..."1.10000000000000000".split(" "),
  ])("%s", (text) => {
    const { price } = parseExactJson(`{"price":${text}}`) as { price: unknown };
    expect(price).toBeInstanceOf(InexactNumber);
  });
});

test("numbers are checked at any place in a JSON text", () => {
  for (const number of ["9007199254740993", "-9007199254740993", "9007199254740992.5", "1e400", "-1.5E400"]) {
    for (const [before, after] of ["|", " |", "[|]", "[1,|]", '{"a":|}', '{"a":\n|}'].map((form) => form.split("|"))) {
      const text = `${before}${number}${after}`;
      let found = 0;
      JSON.stringify(parseExactJson(text), function (this: Record<string, unknown>, key, value) {
        if (this[key] instanceof InexactNumber) found++;
        return value;
      });
      expect([text, found]).toEqual([text, 1]);
    }
  }
});

test("digits in JSON strings are not changed", () => {
  expect(parseExactJson('{"a":"12345678901234567890e5","b":[1e1]}')).toEqual({ a: "12345678901234567890e5", b: [10] });
});

test("in metadata, a number that a double cannot represent becomes the nearest double", () => {
  expect(JSON.stringify(parseExactJson('{"pi":3.14159265358979323846}'))).toBe('{"pi":3.141592653589793}');
});

test("both JSON parsers refuse invalid JSON", () => {
  for (const text of ["{", "1e5}", "[12345678901234567,]"]) expect(() => parseExactJson(text)).toThrow(SyntaxError);
});
