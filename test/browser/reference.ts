import { describe, expect, test } from "bun:test";
import { click, find, isWiderThanScreen } from "./chromium.ts";
import type { Stage } from "./stage.ts";

export function describeReference(stage: Stage): void {
  describe("the reference at /docs", () => {
    // All checks use one page, because its library needs seconds of processor time to start.
    test("the reference at /docs fits 360 pixels, has dark colours, can be searched by keyboard, shows examples, and calls an operation with the entered store and key", async () => {
      const visit = await stage.chromium.visit("about:blank", { width: 360, height: 700 });
      const { page } = visit;
      const warnings: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "warn") warnings.push(message.text());
      });
      // Sets the dark colours before the page loads, because they change the styles of thousands of elements.
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
      await page.goto(`${stage.url}/docs`);
      await find(page, "h1", "Bodega");
      await find(page, "p", "A first request");
      expect(await page.$eval("#reference", (all) => all.textContent)).not.toMatch(/Pattern:|\^\[/);
      expect(await isWiderThanScreen(page)).toBe(false);
      await find(page, "body.dark-mode");

      // The keyboard shortcut of the search works only on a wide screen.
      await page.setViewport({ width: 1280, height: 800 });
      await find(page, "aside");
      const { paths } = (await (await fetch(`${stage.url}/openapi.json`)).json()) as { paths: object };
      const cards = await page.$$eval(".endpoints-card", (all) => all.map((card) => card.textContent).join("\n"));
      expect(Object.keys(paths).filter((path) => !cards.includes(path))).toEqual([]);
      // All examples and calls use the entered store and key. The page draws itself again when the key is entered.
      await page.$eval("#caller [name=namespace]", (field) => Object.assign(field, { value: "demo2" }));
      await page.focus("#caller [name=key]");
      await page.keyboard.sendCharacter(`${stage.app_id}:${stage.app_secret}`);
      await page.keyboard.press("Tab");
      await find(page, "#reference code", `Bearer ${stage.app_id}:${stage.app_secret}`);
      await page.keyboard.down("Control");
      await page.keyboard.press("k");
      await page.keyboard.up("Control");
      await find(page, "[role=dialog] input");
      await page.keyboard.sendCharacter("list products");
      await find(page, "[role=option]", "List products");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForFunction('location.hash === "#tag/products/GET/products/"', { polling: 100 });

      await find(page, ".request-card", `curl '${stage.url}/products/?namespace=demo2'`);
      await click(page, ".request-card button", "Curl");
      await click(page, "[role=option]", "TypeScript");
      await find(page, ".request-card", 'shop.call("GET /products/")');
      await click(page, "button.show-api-client-button", "(get /products/)");
      const answered = page.waitForResponse((response) => response.url().includes("/products/?"));
      visit.allow(/status of 404/);
      await (await find(page, "[role=dialog] button", "Send")).click();
      const call = (await answered).request();
      expect(call.url()).toBe(`${stage.url}/products/?namespace=demo2`);
      expect(call.headers().authorization).toBe(`Bearer ${stage.app_id}:${stage.app_secret}`);
      await find(page, "[role=dialog]", "404 Not Found");
      expect(warnings).toEqual([]);
    }, 90_000);
  });
}
