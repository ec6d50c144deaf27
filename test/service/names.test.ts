import { describe, expect, test } from "bun:test";
import { isSlug, slugFrom } from "../../src/server/modules/catalogue/products/slug.ts";
import {
  currencyDigits,
  currencySign,
  parseCurrency,
  parseLanguage,
  parseNamespace,
} from "../../src/server/modules/tenants/input.ts";
import { hasScope, knownScopes, parseScopes } from "../../src/server/security/scopes.ts";
import { requireText } from "../../src/server/values/fields.ts";
import { isId, newId } from "../../src/server/values/stamps.ts";

const refusal = (field: string) =>
  expect.objectContaining({ code: 5102, details: [expect.objectContaining({ field })] });

function expectRefused(field: string, work: () => unknown): void {
  let thrown: unknown;
  try {
    thrown = { taken: work() };
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toEqual(refusal(field));
}

describe("slugs", () => {
  for (const [title, slug] of [
    ["Lamp", "lamp"],
    ["  A  Lamp! ", "a-lamp"],
    ["Crème brûlée", "creme-brulee"],
    ["Straße 5/6", "straße-5-6"],
    ["ÅNGSTRÖM", "angstrom"],
    ["ΑΒΓ αβγ", "αβγ-αβγ"],
    ["Лампа №5", "лампа-no5"],
    ["灯 light", "灯-light"],
    ["हिन्दी", "हिन्दी"],
    ["مصباح يدوي ٢٠", "مصباح-يدوي-٢٠"],
    ["智能台灯（白色）", "智能台灯-白色"],
    ["โคมไฟ ตั้งโต๊ะ", "โคมไฟ-ตั้งโต๊ะ"],
    ["デスク・ランプ", "デスク-ランプ"],
    ["책상 램프", "책상-램프"],
    ["מנורת שולחן", "מנורת-שולחן"],
    ["50% off — today", "50-off-today"],
    ["a---b___c", "a-b-c"],
    ["İstanbul", "istanbul"],
    ["ﬁne", "fine"],
    ["!!!", ""],
    ["💡", ""],
    ["", ""],
  ] as const) {
    test(`the slug of ${JSON.stringify(title)} is ${JSON.stringify(slug)}`, () => expect(slugFrom(title)).toBe(slug));
  }

  test("the slug of any title is empty or valid", () => {
    const pieces = ["\0", "\u0301", "\ud800", ..."aZéßİǅ灯ि💡-_ 5½ﬀªΩ"];
    const invalid: unknown[] = [];
    let at = 7;
    for (let n = 0; n < 2000; n++) {
      let title = "";
      for (let length = n % 12; length > 0; length--) {
        at = (Math.imul(at, 1_103_515_245) + 12_345) >>> 0;
        title += pieces[(at >>> 8) % pieces.length];
      }
      const slug = slugFrom(title);
      if (slug !== "" && !isSlug(slug)) invalid.push({ title, slug });
    }
    expect(invalid).toEqual([]);
  });

  test("the slug of a long title has at most 80 characters and does not end in a hyphen", () => {
    expect(slugFrom("a".repeat(500))).toBe("a".repeat(80));
    expect(slugFrom(`${"a".repeat(79)} b`)).toBe("a".repeat(79));
    expect([...slugFrom("𝒳".repeat(300))].length).toBeLessThanOrEqual(80);
  });

  test("a given slug consists of lowercase letters and digits, joined by single hyphens or underscores", () => {
    for (const slug of ["a", "a-b", "a_b", "5", "été", "灯", "a".repeat(120)])
      expect([slug, isSlug(slug)]).toEqual([slug, true]);
    for (const slug of ["", "a b", "a\n", "a".repeat(121), "\ud800", ..."-a a- a--b A a/b a.b a%20 .. É".split(" ")]) {
      expect([slug, isSlug(slug)]).toEqual([slug, false]);
    }
  });
});

describe("currencies", () => {
  test("currencies have the decimals of ISO 4217", () => {
    for (const [count, codes] of [
      [0, "JPY KRW VND ISK CLP XAF"],
      [2, "EUR USD RSD HUF IDR"],
      [3, "KWD BHD TND IQD"],
      [4, "CLF"],
    ] as const) {
      for (const code of codes.split(" ")) expect([code, currencyDigits(code)]).toEqual([code, count]);
    }
  });

  test("currencies are accepted in upper and lower case and stored in upper case; invalid codes are refused", () => {
    expect(parseCurrency("eur")).toBe("EUR");
    for (const code of ["", "EURO", "EU", "ZZZ", "€", "12", "EUR ", "constructor"]) {
      expectRefused("currency", () => parseCurrency(code));
    }
  });

  test("a currency is shown with its usual sign, or with its code if it has no sign", () => {
    expect(["EUR", "USD", "JPY", "GBP", "CHF"].map(currencySign)).toEqual(["€", "$", "¥", "£", "CHF"]);
  });
});

test("a language is a BCP 47 tag, stored in its canonical case; other texts are refused", () => {
  for (const [tag, canonical] of [
    ["en", "en"],
    ["PT-br", "pt-BR"],
    ["zh-hant-tw", "zh-Hant-TW"],
    ["sr-Latn", "sr-Latn"],
  ] as const) {
    expect(parseLanguage("lang", tag)).toBe(canonical);
  }
  for (const tag of ["", "e", "en_US", "englishlanguage", "en-", "-en", "12", "en US", "*", "e\0", "a".repeat(36)]) {
    expectRefused("lang", () => parseLanguage("lang", tag));
  }
});

test("a namespace can be part of a host name; other texts are refused", () => {
  for (const name of ["a", "5", "shop", "my-shop-2", "a".repeat(63), "a--b"]) expect(parseNamespace(name)).toBe(name);
  for (const name of ["", "-a", "a-", "Shop", "a b", "a.b", "a_b", "a/b", "é", "a".repeat(64), "a\n", "a\0"]) {
    expectRefused("namespace", () => parseNamespace(name));
  }
});

test("a blank or too long text, and one with control characters or invalid Unicode, is refused", () => {
  for (const text of ["a", " a ", "é 灯 💡", "a".repeat(10)]) expect(requireText("title", text, 10)).toBe(text);
  const refused = ["", " ", "\u00a0", "a".repeat(11), "a\nb", "a\tb", "\0", "\x1b[31m", "\x7f", "\ud800", "\udc00x"];
  for (const text of refused) {
    expectRefused("title", () => requireText("title", text, 10));
  }
});

describe("ids", () => {
  test("ids have a prefix for their kind and sort by age", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push(newId("prod"));
      await Bun.sleep(2);
    }
    for (const id of ids) expect(isId("prod", id)).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(Array.from({ length: 10_000 }, () => newId("prod"))).size).toBe(10_000);
  });

  test("ids are recognised by their exact form", () => {
    const id = newId("prod");
    const others = [id.toUpperCase(), id.slice(1), `${id}0`, id.replace("prod", "app"), `${id.slice(0, -1)}u`];
    for (const text of ["", "prod_", "prod_8zzzzzzzzzzzzzzzzzzzzzzzzz", ...others]) {
      expect([text, isId("prod", text)]).toEqual([text, false]);
    }
  });
});

describe("scopes", () => {
  test("scopes are stored without duplicates and in a fixed order; unknown scopes and an empty list are refused", () => {
    expect(parseScopes(["products:write", "products:read", "products:write"])).toEqual([
      "products:read",
      "products:write",
    ]);
    for (const scopes of ["", "products", "prod:*", ":*", "PRODUCTS:*", "PRODUCTS:READ", "*,x", "__proto__"]) {
      expectRefused("scopes", () => parseScopes(scopes.split(",")));
    }
    expectRefused("scopes", () => parseScopes([]));
  });

  test("scopes with a wildcard, such as products:*, include the scopes of this resource and no others", () => {
    expect(parseScopes(["orders:*"])).toEqual(["orders:read", "orders:write", "orders:place"]);
    expect(parseScopes(["orders:*", "users:read", "orders:read"])).toEqual([
      "orders:read",
      "orders:write",
      "orders:place",
      "users:read",
    ]);
    expect(parseScopes(["events:*"])).toEqual(["events:read"]);
  });

  test("only the scope * includes the scopes of all resources", () => {
    for (const wanted of knownScopes) {
      if (wanted === "*") continue;
      expect(hasScope(new Set(["*"]), wanted)).toBe(true);
      for (const held of knownScopes) {
        if (held !== "*") expect(hasScope(new Set([held]), wanted)).toBe(held === wanted);
      }
      expect(hasScope(new Set(), wanted)).toBe(false);
    }
  });
});
