import { describe, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { click, find, isWiderThanScreen, see } from "./chromium.ts";
import type { Stage } from "./stage.ts";

/** Opens the example of an operation in a language. */
async function chooseExample(page: Page, language: string): Promise<void> {
  await click(page, ".request-card button", "Curl");
  await click(page, "[role=option]", language);
}

export function describeReference(stage: Stage): void {
  describe("the reference at /docs", () => {
    test("lists every operation, has examples for curl and TypeScript, and calls one with a key", async () => {
      const { page } = await stage.chromium.visit(`${stage.url}/docs#tag/products/GET/products/`);
      await find(page, ".request-card", `curl '${stage.url}/products/?namespace=demo'`);
      await chooseExample(page, "TypeScript");
      await find(page, ".request-card", 'shop.call("GET /products/")');

      const { paths } = (await (await fetch(`${stage.url}/openapi.json`)).json()) as { paths: object };
      const cards = await page.$$eval(".endpoints-card", (all) => all.map((card) => card.textContent).join("\n"));
      expect(Object.keys(paths).filter((path) => !cards.includes(path))).toEqual([]);

      await click(page, "button.show-api-client-button", "(get /products/)");
      await (await find(page, "[role=dialog] input[placeholder=Token]")).focus();
      await page.keyboard.sendCharacter(`${stage.app_id}:${stage.app_secret}`);
      const answered = page.waitForResponse((response) => response.url().includes("/products/?"));
      await (await find(page, "[role=dialog] button", "Send")).click();
      expect((await answered).status()).toBe(200);
      await see(page, "200 OK");
    }, 60_000);

    test("is searched by keyboard, has a dark form, and needs no scrolling to the side at 360 pixels", async () => {
      const { page } = await stage.chromium.visit(`${stage.url}/docs`);
      await find(page, "h1", "Bodega");
      await page.keyboard.down("Control");
      await page.keyboard.press("k");
      await page.keyboard.up("Control");
      await find(page, "[role=dialog] input");
      await page.keyboard.sendCharacter("refund an order");
      await find(page, "[role=option]", "Refund an order");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await find(page, ".request-card", "/refund/");
      expect(page.url()).toContain("/orders/{id}/refund/");
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
      await find(page, "body.dark-mode");
      await page.setViewport({ width: 360, height: 700 });
      expect(await isWiderThanScreen(page)).toBe(false);
    }, 60_000);
  });
}
