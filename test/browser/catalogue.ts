import { describe, expect, test } from "bun:test";
import { click, find, findBarriers, isWiderThanScreen, readText, see } from "./chromium.ts";
import type { Stage } from "./stage.ts";

const phone = { width: 360, height: 740 };

export function describeCatalogue(stage: Stage): void {
  const open = (fragment = "", size?: typeof phone) => stage.chromium.visit(`${stage.shop_url}/${fragment}`, size);

  describe("the shop's catalogue", () => {
    test("narrows by category, tag and words, and its address keeps what was chosen", async () => {
      const { page } = await open();
      await see(page, "21 things");
      await click(page, ".categories a", "Kitchen");
      await see(page, "5 things");
      await click(page, ".tags label");
      await page.waitForFunction('location.hash.includes("tag=")');
      await page.waitForNetworkIdle();
      const readGoods = () => page.$$eval(".goods h2", (all) => all.map((one) => one.textContent));
      const chosen = await readGoods();
      expect(chosen).not.toBeEmpty();
      expect(new URL(page.url()).hash).toMatch(/category=.*tag=/);
      await page.reload();
      await find(page, ".goods h2 a", chosen.at(-1) ?? "");
      expect(await readGoods()).toEqual(chosen);
      await page.type("#search", "lamp");
      await page.keyboard.press("Enter");
      await see(page, "Results for “lamp”");
      await find(page, ".goods", "lamp");
    }, 60_000);

    test("puts the chosen variant of a product into the basket, and keeps it over a reload", async () => {
      const { page } = await open("#/p/linen-bedding-set");
      await find(page, ".buying fieldset");
      const prices = new Set<string>();
      for (const option of await page.$$(".buying fieldset input")) {
        await option.evaluate((one) => (one as unknown as { click: () => void }).click());
        prices.add(await readText(page, ".buying"));
      }
      expect(prices.size).toBeGreaterThan(1);
      await click(page, ".buying label:not(.is-out)");
      await click(page, ".buying button", "Add to basket");
      await see(page, "is in your basket");
      await page.reload();
      await find(page, "[data-basket-count]", "1");
    }, 60_000);

    test("likes a product for a visitor without an account, who finds it liked again", async () => {
      const { page } = await open("#/p/enamel-mug");
      const isLiked = (state: boolean) => find(page, `.product-actions .like[aria-pressed=${state}]`);
      await isLiked(false);
      const saved = page.waitForResponse(
        (reply) => reply.url().includes("/likes/") && reply.request().method() === "POST",
      );
      await click(page, ".product-actions .like");
      expect((await saved).ok()).toBe(true);
      await page.reload();
      await isLiked(true);
    }, 60_000);

    test("shows damaged and unknown addresses as not found, and a damaged basket as an empty one", async () => {
      const { page } = await open("#/p/%E0%A4%A");
      await see(page, "It is not here any more");
      await page.evaluate('localStorage.setItem("shop basket", "{")');
      await page.goto(`${stage.shop_url}/#/basket`);
      await page.reload();
      await see(page, "There is nothing in it yet.");
      await page.goto(`${stage.shop_url}/#/__proto__`);
      await see(page, "It is not here any more");
    }, 60_000);

    test("speaks the visitor's language, also in the texts of products", async () => {
      const { page } = await open();
      await see(page, "21 things");
      await click(page, ".languages button[value=de]");
      await see(page, "Küche");
      expect(await page.evaluate("document.documentElement.lang")).toBe("de");
    }, 60_000);

    test.each(["", "#/p/enamel-mug"])(
      "/%s has no barrier that axe-core calls serious, and fits 360 pixels",
      async (fragment) => {
        const { page } = await open(fragment, phone);
        await find(page, "main h1");
        await page.waitForNetworkIdle();
        expect(await isWiderThanScreen(page)).toBe(false);
        expect(await findBarriers(page)).toEqual([]);
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
        expect(await findBarriers(page)).toEqual([]);
      },
      60_000,
    );
  });
}
