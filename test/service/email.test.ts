import { expect, test } from "bun:test";
import { isCountry } from "../../src/server/values/country.ts";
import { emailKey, parseEmail } from "../../src/server/values/email.ts";
import { failureOf } from "../support/failure.ts";

test.each([
  ["ada@example.com", "ada@example.com"],
  ["  Ada.Lovelace@EXAMPLE.com ", "ada.lovelace@example.com"],
  ["ada+shop@example.co.uk", "ada+shop@example.co.uk"],
  ["o'neil_%-x@sub.example.com", "o'neil_%-x@sub.example.com"],
  ["ÉMILE@bücher.example", "émile@xn--bcher-kva.example"],
  ["e\u0301mile@example.com", "émile@example.com"],
  ["ａｄａ@example.com", "ada@example.com"],
  ["\u212Aim@example.com", "kim@example.com"],
  ["straße@example.com", "strasse@example.com"],
  ["STRASSE@example.com", "strasse@example.com"],
  ["STRAẞE@example.com", "strasse@example.com"],
  ["ΟΔΟΣ@example.com", "οδοσ@example.com"],
  ["οδοσ@example.com", "οδοσ@example.com"],
  ["οδος@example.com", "οδοσ@example.com"],
  // The same letter as one character, or as a letter with marks, in upper or lower case.
  ["\u0390@example.com", "\u0390@example.com"],
  ["\u03aa\u0301@example.com", "\u0390@example.com"],
  // Two different letters. In Turkey, these can be two people.
  ["IRMAK@example.com", "irmak@example.com"],
  ["ırmak@example.com", "ırmak@example.com"],
  // Case folding makes this text longer.
  [`${"ß".repeat(64)}@example.com`, `${"s".repeat(128)}@example.com`],
  ["用户@例子.广告", "用户@xn--fsqu00a.xn--4rr70v"],
])("%j has the comparable form %s", (given, key) => {
  expect(emailKey(given)).toBe(key);
});

test.each([
  "",
  ..."ada @example.com ada@ ada@localhost ada@example..com ada@-example.com .ada@example.com".split(" "),
  ..."ada.@example.com a..b@example.com".split(" "),
  "ada@exam ple.com",
  "ada@example.com\nbcc: eve@example.com",
  "ada@example.com\0",
  '"ada lovelace"@example.com',
  "ada@bob@example.com",
  "ada<eve@example.com>",
  "ada,eve@example.com",
  `${"a".repeat(65)}@example.com`,
  `ada@${"a".repeat(64)}.com`,
  `ada@${"a.".repeat(130)}com`,
  "\ud800@example.com",
])("%j is not a valid address", async (given) => {
  const details = [{ field: "email" }];
  expect(await failureOf(() => parseEmail("email", given))).toMatchObject({ code: 5102, details });
});

test("an email is stored as entered, but trimmed and in plain letters", () => {
  expect(parseEmail("email", " Ada@Example.com ")).toEqual({ email: "Ada@Example.com", emailKey: "ada@example.com" });
  expect(parseEmail("email", "Ａda@example.com").email).toBe("Ada@example.com");
});

test("a country is a two-letter code of ISO 3166-1 in upper case", () => {
  for (const code of ["PT", "US", "GB", "TW", "AX", "SS"]) expect([code, isCountry(code)]).toEqual([code, true]);
  for (const code of ["", "pt", "UK", "EU", "XX", "ZZ", "SU", "PRT", "P", "PT PL", "AD AE"]) {
    expect([code, isCountry(code)]).toEqual([code, false]);
  }
});
