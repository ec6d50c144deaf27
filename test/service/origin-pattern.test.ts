import { beforeAll, describe, expect, test } from "bun:test";
import { matchOrigin, parseOriginPattern } from "../../src/server/modules/app-keys/origin-pattern.ts";
import { explainOrigin, setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

const words = (text: string) => text.split(/\s+/);

test("an entry of an allowlist is stored in the form that browsers send", () => {
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
    expect([entry, parseOriginPattern(entry).text]).toEqual([entry, text]);
  }
});

test("an entry of an allowlist that is not a host, with or without scheme and port, is refused", async () => {
  for (const entry of [
    "",
    " ",
    ...words("* *. *com **.example.com a.*.example.com *example.com shop.* https:// https://* null [::1 ::1"),
    ...words("ftp://shop.example.com shop.example.com// / https://shop.example.com/path shop.example.com?x"),
    ...words("shop.example.com#x user@shop.example.com user:pass@shop.example.com shop.example.com:99999"),
    ...words("shop.example.com: shop.example.com:http"),
    "shop example.com",
    "shop.example.com,other.example.com",
    "a.example\nb.example",
  ]) {
    const refusal = await failureOf(() => parseOriginPattern(entry));
    expect(refusal).toMatchObject({ code: 5102, details: [{ field: "origins" }] });
  }
});

const list = words(`shop.example.com *.example.org https://pay.example.net local.example.net:3000
  http://*.dev.example.net:8080 tls.example.net:443 bücher.example [2001:db8::1]`).map(parseOriginPattern);

test.each(
  words(`https://shop.example.com http://shop.example.com https://SHOP.Example.COM HTTPS://shop.example.com
  https://shop.example.com:443 http://shop.example.com:80 https://shop.example.com:8443 https://a.example.org
  https://a.b.example.org https://A.b.EXAMPLE.org https://pay.example.net https://pay.example.net:443
  http://local.example.net:3000 https://local.example.net:3000 http://a.dev.example.net:8080 https://tls.example.net
  https://xn--bcher-kva.example https://[2001:db8::1] https://[2001:DB8:0:0:0:0:0:1]:8443`),
)("the list of origins allows %s", (origin) => {
  expect(matchOrigin(list, origin)).not.toBeNull();
});

test.each([
  // Hosts that are similar to an exact entry.
  ...words(`https://www.shop.example.com https://example.com https://evilshop.example.com https://shop.example.com.evil.com
    https://shop.example.comevil.com https://shop-example.com https://shop.example.com.`),
  // Hosts that are similar to a wildcard.
  ...words(`https://example.org https://evilexample.org https://a.example.org.evil.com https://a.example.org.
    https://.example.org https://example.org.`),
  // Entries with a scheme or port do not match others.
  ...words(`http://pay.example.net http://local.example.net https://local.example.net:3001 http://a.dev.example.net
    https://a.dev.example.net:8080 http://dev.example.net:8080 http://tls.example.net`),
  // Names that only look the same.
  ...words("https://bucher.example https://xn--bcher-kva.example.com"),
  // Texts that are not an origin of a page.
  ...words(`null NULL shop.example.com //shop.example.com file://shop.example.com ftp://shop.example.com
    chrome-extension://shop.example.com data:text/html,https://shop.example.com about:blank *`),
  // Texts with more than scheme, host and port.
  ...words(`https://shop.example.com/ https://shop.example.com/path https://shop.example.com?x https://shop.example.com?
    https://shop.example.com#x https://shop.example.com# https://shop.example.com@evil.com
    https://user@shop.example.com https://user:pass@shop.example.com https://:pass@shop.example.com
    https://@shop.example.com https://evil.com/https://shop.example.com https://evil.com#.shop.example.com
    https://evil.com?.example.org https://evil.com:443@shop.example.com https://shop.example.com:99999
    https://shop.example.com:abc https:shop.example.com https://shop%2eexample.com`),
  // Texts with white space or a backslash.
  "",
  "https://shop.example.com https://evil.com",
  "https://evil.com, https://shop.example.com",
  "https://evil.com\\@shop.example.com",
  "https:\\\\shop.example.com",
  "https://shop.exam\tple.com",
])("the list of origins does not allow %j", (origin) => {
  expect(matchOrigin(list, origin)).toBeNull();
});

onDatabase("file", (suite) => {
  let appId: string;
  beforeAll(async () => {
    appId = (await suite.shop()).key.app_id;
  });

  describe("advice for a refused origin", () => {
    test.each([
      ["https://new.example", "To allow it: bodega origin add $ https://new.example"],
      ["http://new.example:3000", "To allow it: bodega origin add $ http://new.example:3000"],
      ["https://new.example/checkout?x=1", "Browsers send scheme, host and port"],
      ["null", "From a file or a sandboxed frame they send null"],
      [null, "bodega origin set $ '*.example.org' shop.example.com --allow-no-origin"],
    ])("%p", async (origin, expected) => {
      await setOrigins(suite.app.system, { appId, origins: ["shop.example.com", "*.example.org"] });
      const { advice } = await explainOrigin(suite.app.system, { appId, origin });
      expect(advice).toContain(expected.replace("$", appId));
    });
  });
});
