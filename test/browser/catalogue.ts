import { describe, expect, test } from "bun:test";
import type { HTTPResponse } from "puppeteer-core";
import { click, find, findBarriers, isWiderThanScreen, readText, see } from "./chromium.ts";
import type { Stage } from "./stage.ts";

const phone = { width: 360, height: 740 };

export function describeCatalogue(stage: Stage): void {
  const open = (fragment = "", size?: typeof phone) => stage.chromium.visit(`${stage.shop_url}/${fragment}`, size);

  describe("the shop's catalogue", () => {
    test("the shop's catalogue filters by category, tag and words, and has the filters in its address", async () => {
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

    test("the shop's catalogue puts the chosen variant of a product into the basket, likes a product without an account, and keeps both over a reload", async () => {
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
      await page.goto(`${stage.shop_url}/#/p/enamel-mug`);
      const isLiked = (state: boolean) => find(page, `.product-actions .like[aria-pressed=${state}]`);
      await isLiked(false);
      const isLike = (reply: HTTPResponse) => reply.url().includes("/likes/") && reply.request().method() === "POST";
      const saved = page.waitForResponse(isLike);
      await click(page, ".product-actions .like");
      expect((await saved).ok()).toBe(true);
      await page.reload();
      await isLiked(true);
      await find(page, "[data-basket-count]", "1");
    }, 60_000);

    test("the shop's catalogue redirects the path of a product to the product's page, shows unknown addresses as not found, and a damaged basket as empty", async () => {
      const visit = await open("p/enamel-mug?variant=1");
      const { page } = visit;
      await find(page, "h1", "Enamel mug");
      expect(new URL(page.url()).hash).toBe("#/p/enamel-mug?variant=1");
      await page.goto(`${stage.shop_url}/#/p/%E0%A4%A`);
      await see(page, "It is not here any more");
      await page.evaluate('localStorage.setItem("shop basket", "{")');
      await page.goto(`${stage.shop_url}/#/basket`);
      await page.reload();
      await see(page, "There is nothing in it yet.");
      await page.goto(`${stage.shop_url}/#/__proto__`);
      await see(page, "It is not here any more");
      visit.allow(/status of 422/);
      await page.goto(`${stage.shop_url}/#/?category=gone`);
      await page.reload();
      await see(page, "It is not here any more");
    }, 60_000);

    test("the shop's catalogue uses the visitor's language, also in the texts, tags and options of products", async () => {
      const { page } = await open();
      await see(page, "21 things");
      await click(page, ".languages button[value=de]");
      await see(page, "Küche");
      expect(await page.evaluate("document.documentElement.lang")).toBe("de");
      await find(page, ".tags label", "Leinen");
      await page.goto(`${stage.shop_url}/#/p/linen-bedding-set`);
      await find(page, ".options legend", "Farbe");
      await find(page, ".option", "Salbei");
      await find(page, ".tag-list a", "Textilien");
    }, 60_000);

    test("the shop's catalogue shows three pictures of a product with buttons and arrow keys, a placeholder for a product without pictures, and similar products", async () => {
      const { page } = await open("#/p/enamel-mug", phone);
      await find(page, ".suggestions .card", "bowl");
      const isAt = (index: number) => find(page, `.thumbs button[aria-current=true]:nth-child(${index})`);
      expect(await page.$$eval(".gallery img", (all) => all.map((one) => one.getAttribute("alt")))).toEqual([
        "A white enamel mug with a blue rim on a wooden table",
        "Its blue rim",
        "Its handle",
      ]);
      await isAt(1);
      await click(page, ".thumbs button:last-child");
      await isAt(3);
      await page.focus(".gallery");
      await page.keyboard.press("ArrowLeft");
      await isAt(2);
      const { slug } = await stage.call<{ slug: string }>("POST", "/products/", { title: "Plain thing", price: 5 });
      await page.goto(`${stage.shop_url}/#/p/${slug}`);
      await find(page, ".product .picture.is-none");
      // Waits until the page has sent the view to the server.
      await page.waitForNetworkIdle();
      await stage.call("DELETE", `/products/${slug}/`);
    }, 60_000);

    test("the shop's catalogue shows its products after quick reloads, even while the browser registers the service worker", async () => {
      const { page } = await stage.chromium.visit(stage.shop_url, { hasWorker: true });
      await page.evaluateOnNewDocument("navigator.serviceWorker.register = () => new Promise(() => {})");
      for (let count = 0; count < 3; count++) {
        await page.reload({ waitUntil: "domcontentloaded" });
        expect(await page.$$("main .card")).not.toBeEmpty();
      }
      await find(page, ".goods h2 a", "Enamel mug");
    }, 60_000);

    test.each([360, 1280])(
      "the shop's catalogue has a stable layout while it loads at %d pixels, and wraps no price",
      async (width) => {
        const { page } = await open("", { width, height: 740 });
        // German prices are long, and have a space before the currency.
        await page.evaluate('localStorage.setItem("shop language", "de")');
        await page.evaluateOnNewDocument(`new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) globalThis.shift = (globalThis.shift ?? 0) + value;
        }).observe({ type: "layout-shift", buffered: true })`);
        for (const fragment of ["", "#/p/linen-bedding-set", "#/?q=zzzzq", "#/basket"]) {
          await page.goto("about:blank");
          await page.goto(`${stage.shop_url}/${fragment}`, { waitUntil: "networkidle0" });
          expect(await page.evaluate("globalThis.shift ?? 0")).toBeLessThan(0.05);
          if (fragment.startsWith("#/p/")) await click(page, ".buying button", "In den Korb");
        }
        const prices = await page.evaluate(`[...document.querySelectorAll(".line-cost, dd")].map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          return [one.textContent, range.getClientRects().length];
        })`);
        expect(prices).toEqual([
          ["149,00\u00a0€", 1],
          ["149,00\u00a0€", 1],
        ]);
        expect(await isWiderThanScreen(page)).toBe(false);
      },
      60_000,
    );

    test("the shop's catalogue has no serious finding of axe-core, fits 360 pixels, and suggests popular products when a search finds nothing", async () => {
      const { page } = await open("", phone);
      for (const [fragment, text, last] of [
        ["", "21 things", ".goods .card"],
        ["#/p/enamel-mug", "Add to basket", ".suggestions .card"],
        ["#/?q=zzzzq", "Nothing here fits.", ".suggestions .card"],
      ] as const) {
        await page.goto(`${stage.shop_url}/${fragment}`);
        await see(page, text);
        await find(page, last);
        for (const value of ["light", "dark"]) {
          await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
          expect(await isWiderThanScreen(page)).toBe(false);
          expect(await findBarriers(page)).toEqual([]);
        }
      }
      expect(await page.$$(".suggestions .card")).toHaveLength(4);
    }, 60_000);
  });
}
