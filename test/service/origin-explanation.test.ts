import { beforeAll, describe, expect, test } from "bun:test";
import { explainOrigin, setOrigins } from "../../src/server/modules/app-keys/origins.ts";
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

  test("the verdict agrees with the request, and an accepted origin gets no advice", async () => {
    await setOrigins(suite.app.system, { appId, origins: ["*.example.org"], allowNoOrigin: true });
    for (const origin of ["https://a.example.org", "https://example.org", "null", null]) {
      const { advice, rejected, ...verdict } = await explainOrigin(suite.app.system, { appId, origin });
      expect(verdict.allowed).toBe(origin === null || origin === "https://a.example.org");
      expect(advice === null).toBe(verdict.allowed);
      expect(rejected).toEqual([]);
    }
  });
});
