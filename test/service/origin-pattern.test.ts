import { beforeAll, describe, expect, test } from "bun:test";
import { matchOrigin, parseOriginPattern } from "../../src/server/modules/app-keys/origin-pattern.ts";
import { explainOrigin, setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import { issueKey } from "../../src/server/modules/app-keys/service.ts";
import { createTenant } from "../../src/server/modules/tenants/service.ts";
import { newNamespace } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

describe("entries of an allowlist", () => {
  for (const [entry, text] of [
    ["shop.example.com", "shop.example.com"],
    ["  shop.example.com ", "shop.example.com"],
    ["SHOP.example.com", "shop.example.com"],
    ["*.example.com", "*.example.com"],
    ["https://shop.example.com", "https://shop.example.com"],
    ["HTTP://*.example.com:8080", "http://*.example.com:8080"],
    ["shop.example.com:08080", "shop.example.com:8080"],
    ["https://shop.example.com/", "https://shop.example.com"],
    ["shop.example.com:8443/", "shop.example.com:8443"],
    ["localhost", "localhost"],
    ["localhost:3000", "localhost:3000"],
    ["127.0.0.1", "127.0.0.1"],
    ["[::1]:3000", "[::1]:3000"],
    ["[0:0:0:0:0:0:0:1]", "[::1]"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["*.БГ.example", "*.xn--90ae.example"],
  ] as const) {
    test(`${JSON.stringify(entry)} is stored as ${text}`, () => expect(parseOriginPattern(entry).text).toBe(text));
  }

  for (const entry of [
    "",
    " ",
    ..."* *. *.com **.example.com a.*.example.com *example.com shop.* https:// https://*".split(" "),
    ..."ftp://shop.example.com shop.example.com// / https://shop.example.com/path shop.example.com?x".split(" "),
    ..."shop.example.com#x user@shop.example.com user:pass@shop.example.com shop.example.com:99999".split(" "),
    ..."shop.example.com: shop.example.com:http".split(" "),
    "shop example.com",
    "shop.example.com,other.example.com",
    "a.example\nb.example",
    "null",
    "[::1",
    "::1",
  ]) {
    test(`${JSON.stringify(entry)} is refused`, () => {
      let outcome: unknown;
      try {
        outcome = parseOriginPattern(entry);
      } catch (error) {
        outcome = error;
      }
      expect(outcome).toMatchObject({ code: 5102, details: [{ field: "origins" }] });
    });
  }
});

describe("matching", () => {
  const fits = (entry: string, origin: string) => matchOrigin([parseOriginPattern(entry)], origin) !== null;

  test("a default port and no port are equal, in an entry and in an origin", () => {
    expect(fits("example.com:443", "https://example.com")).toBe(true);
    expect(fits("example.com:443", "https://example.com:443")).toBe(true);
    expect(fits("example.com:443", "http://example.com")).toBe(false);
    expect(fits("example.com:80", "http://example.com")).toBe(true);
    expect(fits("http://example.com:80", "https://example.com:80")).toBe(false);
    expect(fits("example.com:8443", "https://example.com:8443")).toBe(true);
    expect(fits("example.com:8443", "https://example.com")).toBe(false);
    expect(fits("example.com", "https://example.com:8443")).toBe(true);
  });
});

onDatabase("file", (suite) => {
  let appId: string;
  beforeAll(async () => {
    const namespace = newNamespace();
    await createTenant(suite.app.system, { namespace });
    appId = (await issueKey(suite.app.system, { namespace, name: "web" })).app_id;
  });

  describe("a refused origin gets advice", () => {
    test.each([
      ["https://new.example", "To allow it: bodega origin add $ https://new.example"],
      ["http://new.example:3000", "To allow it: bodega origin add $ http://new.example:3000"],
      ["https://new.example/checkout?x=1", "A browser sends scheme, host and port"],
      ["null", "null from a file or a sandboxed frame"],
      [null, "bodega origin set $ '*.example.org' shop.example.com --allow-no-origin"],
    ])("%p", async (origin, expected) => {
      await setOrigins(suite.app.system, { appId, origins: ["shop.example.com", "*.example.org"] });
      const { advice } = await explainOrigin(suite.app.system, { appId, origin });
      expect(advice).toContain(expected.replace("$", appId));
    });
  });
});
