import { describe, expect, test } from "bun:test";
import { InexactNumber, parseExactJson } from "../../src/server/values/exact-json.ts";

describe("a number that a double can represent is that number, in any notation", () => {
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

describe("a number that a double would round is an InexactNumber", () => {
  test.each([
    "19.990000000000000001",
    "9007199254740993",
    "1e400",
    "1e-400",
    "0.1000000000000000055511151231257827",
    "1.10000000000000000",
  ])("%s", (text) => {
    const { price } = parseExactJson(`{"price":${text}}`) as { price: unknown };
    expect(price).toBeInstanceOf(InexactNumber);
  });
});

test("a number is checked wherever it begins", () => {
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

test("digits in strings are not changed", () => {
  expect(parseExactJson('{"a":"12345678901234567890e5","b":[1e1]}')).toEqual({ a: "12345678901234567890e5", b: [10] });
});

test("in metadata an inexact number becomes the nearest double", () => {
  expect(JSON.stringify(parseExactJson('{"pi":3.14159265358979323846}'))).toBe('{"pi":3.141592653589793}');
});

test("invalid JSON is refused by both parsers", () => {
  for (const text of ["{", "1e5}", "[12345678901234567,]"]) expect(() => parseExactJson(text)).toThrow(SyntaxError);
});
