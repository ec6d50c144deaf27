import { beforeAll, describe, expect, test } from "bun:test";
import { explainOrigin } from "../../src/server/modules/app-keys/origin-explanation.ts";
import { setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import { issueKey } from "../../src/server/modules/app-keys/service.ts";
import { createTenant } from "../../src/server/modules/tenants/service.ts";
import { newNamespace } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let appId: string;
  beforeAll(async () => {
    const namespace = newNamespace();
    await createTenant(suite.app.system, { namespace });
    appId = (await issueKey(suite.app.system, { namespace, name: "web" })).app_id;
  });

  const why = async (entry: string, origin: string) => {
    await setOrigins(suite.app.system, { appId, origins: [entry] });
    const { entries } = await explainOrigin(suite.app.system, { appId, origin });
    return entries.map(({ matches, why }) => `${matches ? "fits" : "no"}: ${why}`);
  };

  describe("each entry has the reason why it matches or does not", () => {
    test.each([
      ["shop.example.com", "https://shop.example.com", "fits: the host is the same"],
      ["*.example.com", "https://a.b.example.com", "fits: the host is a subdomain of example.com"],
      [
        "https://a.example:8443",
        "https://a.example:8443",
        "fits: the host is the same, so is the scheme, so is the port",
      ],
      [
        "*.example.com",
        "https://example.com",
        "no: it covers the subdomains of example.com, but not example.com itself",
      ],
      ["*.example.com", "https://evilexample.com", "no: evilexample.com is not a subdomain of example.com"],
      ["example.com", "https://www.example.com", "no: it does not cover subdomains such as www.example.com"],
      ["example.com", "https://example.org", "no: the host differs: example.org"],
      ["https://example.com", "http://example.com", "no: the scheme differs: http"],
      ["example.com:3000", "http://example.com", "no: the port differs: 80"],
      [
        "https://example.com:3000",
        "http://example.org",
        "no: the host differs: example.org; the scheme differs: http; the port differs: 80",
      ],
    ])("%s to %s", async (entry, origin, expected) => {
      expect(await why(entry, origin)).toEqual([expected]);
    });
  });

  describe("a refused origin gets advice", () => {
    test.each([
      ["https://new.example", "To allow it: bodega origin add $ https://new.example"],
      ["http://new.example:3000", "To allow it: bodega origin add $ http://new.example:3000"],
      ["new.example", "For that page a browser sends https://new.example."],
      ["https://new.example/checkout?x=1", "For that page a browser sends https://new.example."],
      ["null", "Browsers send null from sandboxed frames"],
      ["ftp://new.example", "A browser sends only scheme, host and port"],
      ["not an origin", "A browser sends only scheme, host and port"],
      [null, "bodega origin set $ '*.example.org' shop.example.com --allow-no-origin"],
    ])("%p", async (origin, expected) => {
      await setOrigins(suite.app.system, { appId, origins: ["shop.example.com", "*.example.org"] });
      const { advice, entries } = await explainOrigin(suite.app.system, { appId, origin });
      expect(advice).toContain(expected.replace("$", appId));
      const isOrigin = origin !== null && /^https?:\/\/[^/]+$/.test(origin);
      expect(entries).toHaveLength(isOrigin ? 2 : 0);
    });
  });

  test("the verdict agrees with the request, and an accepted origin gets no advice", async () => {
    await setOrigins(suite.app.system, { appId, origins: ["*.example.org"], allowNoOrigin: true });
    for (const origin of ["https://a.example.org", "https://example.org", "null", null]) {
      const { entries: _, advice, rejected, ...verdict } = await explainOrigin(suite.app.system, { appId, origin });
      expect(verdict.allowed).toBe(origin === null || origin === "https://a.example.org");
      expect(advice === null).toBe(verdict.allowed);
      expect(rejected).toEqual([]);
    }
  });
});
