import { expect, test } from "bun:test";
import { parseIfMatch, parseQuery } from "../../src/server/api/check-input.ts";
import { popCommonParams } from "../../src/server/api/credentials.ts";
import { requestIdOf } from "../../src/server/api/headers.ts";

const read = (search: string) => ({ ...parseQuery(`http://h/p/${search}`).query });

test("a query is parsed as a form", () => {
  for (const [search, values] of [
    ["", {}],
    ["?", {}],
    ["?&&", {}],
    ["?a=1&b=2", { a: "1", b: "2" }],
    ["?a", { a: "" }],
    ["?a=", { a: "" }],
    ["?=1", { "": "1" }],
    ["?a=b=c", { a: "b=c" }],
    ["?a+b=c+d", { "a b": "c d" }],
    ["?a=%2B%26%3D%20", { a: "+&= " }],
    ["?a=%E7%81%AF&%C3%A9=1", { a: "灯", é: "1" }],
    ["?a[b]=1&a[c]=2", { "a[b]": "1", "a[c]": "2" }],
    ["?a?b=1", { "a?b": "1" }],
  ] as [string, Record<string, string>][]) {
    expect({ search, values: read(search) }).toEqual({ search, values });
  }
});

test("a repeated name in a query, in any encoding, is refused with 5100", () => {
  for (const search of ["?a=1&a=1", "?a&a", "?a=1&%61=2", "?a+b=1&a%20b=2", "?__proto__=1&__proto__=2", "?=1&=2"]) {
    expect(() => read(search)).toThrow(expect.objectContaining({ code: 5100 }));
  }
});

test("invalid percent-encoding in a query is refused with 5100", () => {
  for (const search of ["?a=%", "?a=%1", "?a=%zz", "?%=1", "?a=%ff", "?a=%c3%28", "?a=%ed%a0%80", "?a=%f5%80%80%80"]) {
    expect(() => read(search)).toThrow(expect.objectContaining({ code: 5100 }));
  }
});

test("names of a query such as __proto__ have no special meaning", () => {
  const { query } = parseQuery("http://h/?__proto__=x&constructor=y&toString=z");
  expect(Object.keys(query)).toEqual(["__proto__", "constructor", "toString"]);
  expect(Object.getPrototypeOf(query)).toBeNull();
  expect(popCommonParams(JSON.parse('{"__proto__":{"namespace":"x"}}'))).toEqual({});
});

test("the six common parameters are taken from query and body", () => {
  const { common, query } = parseQuery("http://h/?namespace=q&lang=&x=1");
  const body: Record<string, unknown> = { namespace: "b", lang: "b", app_id: "b", app_secret: 5, user_id: null, y: 1 };
  expect(common).toEqual({ namespace: "q", lang: "" });
  expect(popCommonParams(body)).toEqual({ namespace: "b", lang: "b", app_id: "b", app_secret: "", user_id: "" });
  expect([{ ...query }, body]).toEqual([{ x: "1" }, { y: 1 }]);
});

test("a request id of a caller is kept if it is safe and not too long", () => {
  const idOf = (given: string) => requestIdOf(new Headers({ "x-request-id": given }));
  for (const id of ["abcdefgh", "A.b_c-1.2", "x".repeat(128)]) expect(idOf(id)).toBe(id);
  for (const id of ["", "short", "x".repeat(129), "a b c d e", "a,b,c,d,e", "ünïcödé-", "a\tbcdefgh", '{"a":12345}']) {
    expect(idOf(id)).not.toBe(id);
  }
  expect(requestIdOf(new Headers())).not.toBe(requestIdOf(new Headers()));
});

test("If-Match may be a version, * or missing; an unknown ETag gets 5303, and any other text 5100", () => {
  expect([null, "*", " * ", '"1"', '"15"', ' "7" ', 'W/"4"'].map(parseIfMatch)).toEqual([
    null,
    null,
    null,
    1,
    15,
    7,
    4,
  ]);
  for (const [code, tags] of [
    [5303, ['W/"x"', '""', '"0"', '"01"', '"-1"', '"1.0"', '"a"', '"9999999999999999"']],
    [5100, ["", "1", '"1",', '"1", "2"', '"1" "2"', '"1", *', '"1', '1"', "'1'", "W/1", "**"]],
  ] as const) {
    for (const tag of tags) expect(() => parseIfMatch(tag)).toThrow(expect.objectContaining({ code }));
  }
});
