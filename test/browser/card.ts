import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { click, find, findBarriers, isWiderThanScreen, readText, see } from "./chromium.ts";
import { chooseLanguage, fillIn } from "./forms.ts";
import type { Stage } from "./stage.ts";

const words = {
  en: {
    ...{ add: "Add to basket", card: "By card", submit: "Order and pay", test: "Test payments: no card is charged." },
    ...{ declined: "The card was declined", left: "You left the payment page. Nothing was paid.", payNow: "Pay now" },
    ...{ thanks: "Thank you", paid: "Paid", placed: "Your order", isPaid: "is paid", pay: "Please pay" },
  },
  de: {
    ...{
      add: "In den Korb",
      card: "Mit Karte",
      submit: "Zahlungspflichtig bestellen",
      test: "keine Karte wird belastet",
    },
    ...{ declined: "Die Karte wurde abgelehnt", left: "Es wurde nichts bezahlt.", payNow: "Jetzt bezahlen" },
    ...{ thanks: "Danke", paid: "Bezahlt", placed: "Ihre Bestellung", isPaid: "ist bezahlt", pay: "Bitte zahlen Sie" },
  },
} as const;
const checkout = "[data-test=checkout]";
const orderAndPay = `${checkout} [data-slot=submit]:not([disabled])`;

export function describeCard(stage: Stage): void {
  const isAtPayment = (page: Page) =>
    page.waitForFunction(`location.origin === "${stage.payment_url}"`, { timeout: 15_000 });
  const order = async (page: Page, { add, email }: { add: string; email: string }) => {
    await page.goto(`${stage.shop_url}/#/p/enamel-mug`);
    await click(page, ".buying button", add);
    await find(page, "[data-basket-count]", "1");
    await page.goto(`${stage.shop_url}/#/checkout`);
    await find(page, `${checkout} [name=payment_method][value=stripe]`);
    const to = { name: "Grace", line1: "Quay 1", city: "Hamburg", postal_code: "20457", country: "DE", email };
    await fillIn(page, checkout, to);
  };

  describe("a guest who pays by card", () => {
    beforeAll(() =>
      stage.binary.run("tenant", "update", "demo", "--orders-per-minute", "0", "--yes", "--data-dir", "bodega-demo"),
    );

    test.each([
      ["en", 1280],
      ["de", 360],
    ] as const)(
      "is declined, leaves, comes back, pays, sees it without a reload, and reads both mails, in %s at %d pixels",
      async (lang, width) => {
        const say = words[lang];
        const visit = await stage.chromium.visit(stage.shop_url, { width, height: 800 });
        const { page } = visit;
        // The page of a mail may have pictures, so the browser asks for an icon.
        visit.allow(/favicon/);
        await chooseLanguage(page, lang);
        const email = `card-${lang}@example.com`;
        await order(page, { add: say.add, email });
        await find(page, `${checkout} [data-test=payment]`, say.card);
        expect(await findBarriers(page)).toEqual([]);
        expect(await isWiderThanScreen(page)).toBe(false);
        await click(page, orderAndPay, say.submit);

        await isAtPayment(page);
        await see(page, say.test);
        await see(page, email);
        expect(await findBarriers(page)).toEqual([]);
        expect(await isWiderThanScreen(page)).toBe(false);
        const amount = await readText(page, "h1");
        await click(page, "button[value=decline]");
        await see(page, say.declined);
        await click(page, "button[value=leave]");

        await find(page, "[data-test=card]", say.left);
        await find(page, "[data-test=card]", `${say.pay} ${amount}`);
        expect(await findBarriers(page)).toEqual([]);
        expect(await isWiderThanScreen(page)).toBe(false);
        const [, id] = /#\/order\/(ord_\w+)/.exec(page.url()) ?? [];
        await click(page, "[data-test=card] button", say.payNow);
        await isAtPayment(page);
        expect(await readText(page, "h1")).toBe(amount);
        await click(page, "button[value=pay]");

        await find(page, "h1", say.thanks);
        await find(page, "[data-test=state]", say.paid);
        expect(page.url()).toBe(`${stage.shop_url}/#/order/${id}`);
        expect(await findBarriers(page)).toEqual([]);
        const paid = await stage.call<Record<string, unknown>>("GET", `/orders/${id}/`);
        expect(paid).toMatchObject({ status: "paid", payment_status: "paid", due: 0, needs_attention: [] });

        await page.goto(stage.mail_url);
        expect(await findBarriers(page)).toEqual([]);
        for (const subject of [say.isPaid, say.placed]) {
          await click(page, "a", `${say.placed} ${paid.number}${subject === say.placed ? "" : ` ${subject}`}`);
          await find(page, "td", "1 × ");
          await find(page, `a[href^="${stage.shop_url}/#${id}."]`);
          await page.goBack();
        }
        const list = await readText(page);
        expect(list.split(`to ${email}`).length - 1).toBe(2);
      },
      60_000,
    );

    test("sees that the payment is checked while the shop does not know it yet, and then that it is paid", async () => {
      const { page } = await stage.chromium.visit(stage.shop_url);
      await chooseLanguage(page, "en");
      await order(page, { add: words.en.add, email: "late@example.com" });
      await click(page, orderAndPay);
      await isAtPayment(page);
      const pageOfPayment = page.url();
      const [placed] = await stage.call<{ id: string }[]>("GET", "/orders/");
      // The buyer comes back before the payment has arrived.
      await page.goto(`${stage.shop_url}/#/order/${placed?.id}?returned=true`);
      await find(page, "[data-test=card]", "We are checking your payment.");
      expect(await findBarriers(page)).toEqual([]);
      await fetch(pageOfPayment, { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" });
      await find(page, "[data-test=state]", "Paid");
    }, 60_000);

    test("can be told that the payment page did not open, and open it later", async () => {
      const visit = await stage.chromium.visit(stage.shop_url);
      const { page } = visit;
      visit.allow(/status of 503/, /ERR_FAILED/);
      await chooseLanguage(page, "en");
      let isCut = true;
      // The listener comes first: a request that nobody continues would wait for ever.
      page.on("request", (request) => {
        if (request.interceptResolutionState().action === "disabled") return;
        if (isCut && request.method() === "POST" && request.url().includes("/checkout/")) void request.abort();
        else void request.continue();
      });
      // Requests of a service worker are not intercepted.
      await page.setBypassServiceWorker(true);
      await page.setRequestInterception(true);
      await order(page, { add: words.en.add, email: "closed@example.com" });
      await click(page, orderAndPay);
      await find(page, "[data-test=card]", "The payment page did not open.");
      isCut = false;
      await click(page, "[data-test=card] button", "Pay now");
      await isAtPayment(page);
    }, 60_000);
  });
}
