import { describe, expect, test } from "bun:test";
import { see } from "./chromium.ts";
import type { Stage } from "./stage.ts";

const closed = "The shop is closed for the moment.";
const refused = /status of 401/;

export function describeOrigins(stage: Stage): void {
  describe("the shop's key", () => {
    test("the shop's key works in pages of the shop's origin, although the API has another origin", async () => {
      const { page } = await stage.chromium.visit("about:blank");
      const listed = page.waitForResponse((reply) => reply.url().startsWith(`${stage.url}/products/?`));
      await page.goto(stage.shop_url);
      const { "access-control-allow-origin": allowed } = (await listed).headers();
      expect({ allowed, status: (await listed).status() }).toEqual({ allowed: stage.shop_url, status: 200 });
      await see(page, "21 things");
    }, 60_000);

    test("the shop's key works in no page of another origin, and such a page cannot read the reply", async () => {
      const headers = { "Content-Type": "text/html" };
      const fetchPage = () => new Response("<!doctype html><title>Elsewhere</title>", { headers });
      const elsewhere = Bun.serve({ hostname: "127.0.0.2", port: 0, fetch: fetchPage });
      const origin = `http://127.0.0.2:${elsewhere.port}`;
      stage.origins.push(origin);
      const visit = await stage.chromium.visit(origin);
      visit.allow(/CORS|ERR_FAILED|favicon/);
      const query = `namespace=demo&app_id=${stage.page_app_id}&app_secret=${stage.page_app_secret}`;
      const ask = `fetch("${stage.url}/products/?${query}").then(({ status }) => status, ({ name }) => name)`;
      expect(await visit.page.evaluate(ask)).toBe("TypeError");
      await visit.page.goto(stage.shop_url);
      expect(await visit.page.evaluate(ask)).toBe(200);
      await elsewhere.stop(true);
    }, 60_000);

    test("the shop's key works nowhere after it is revoked, not even in an open page", async () => {
      const visit = await stage.chromium.visit(stage.shop_url);
      await see(visit.page, "21 things");
      const revoke = ["key", "revoke", stage.page_app_id, "--yes", "--data-dir", "bodega-demo"];
      expect(await stage.binary.run(...revoke)).toMatchObject({ code: 0 });
      visit.allow(refused);
      await visit.page.goto(`${stage.shop_url}/#/p/enamel-mug`);
      await see(visit.page, closed);
    }, 60_000);
  });
}
