import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { click, find, findBarriers, isWiderThanScreen, readText, see } from "./chromium.ts";
import { chooseLanguage, fillIn } from "./forms.ts";
import type { Stage } from "./stage.ts";

const phone = { width: 360, height: 800 };
const checkout = "[data-test=checkout]";
const orderAndPay = `${checkout} [data-slot=submit]:not([disabled])`;

export function describeCard(stage: Stage): void {
  const isAtPayment = (page: Page) =>
    page.waitForFunction(`location.origin === "${stage.payment_url}"`, { timeout: 15_000 });
  /** Pays without leading the buyer back to the shop. */
  const payElsewhere = (pageOfPayment: string) =>
    fetch(pageOfPayment, { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" });
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
      stage.binary.run("tenant", "update", "demo", "--orders-per-minute", "0", "--data-dir", "bodega-demo"),
    );

    test("a guest who pays by card is declined, leaves, returns, pays, sees the payment without a reload, and reads both mails, in German on a phone", async () => {
      const visit = await stage.chromium.visit(stage.shop_url, phone);
      const { page } = visit;
      // The page of a mail may have pictures, so the browser asks for an icon.
      visit.allow(/favicon/);
      await chooseLanguage(page, "de");
      const email = "card@example.com";
      await order(page, { add: "In den Korb", email });
      await find(page, `${checkout} [data-test=payment]`, "Mit Karte");
      expect(await findBarriers(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      await click(page, orderAndPay, "Zahlungspflichtig bestellen");

      await isAtPayment(page);
      await see(page, "keine Karte wird belastet");
      await see(page, email);
      expect(await findBarriers(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      const amount = await readText(page, "h1");
      await click(page, "button[value=decline]");
      await see(page, "Die Karte wurde abgelehnt");
      await click(page, "button[value=leave]");

      await find(page, "[data-test=card]", "Es ist keine Zahlung eingegangen.");
      await find(page, "[data-test=card]", `Bitte zahlen Sie ${amount}`);
      expect(await findBarriers(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      const [, id] = /#\/order\/(ord_\w+)/.exec(page.url()) ?? [];
      await click(page, "[data-test=card] button", "Jetzt bezahlen");
      await isAtPayment(page);
      expect(await readText(page, "h1")).toBe(amount);
      await click(page, "button[value=pay]");

      await find(page, "h1", "Danke");
      await find(page, "[data-test=state]", "Bezahlt");
      expect(page.url()).toBe(`${stage.shop_url}/#/order/${id}`);
      expect(await findBarriers(page)).toEqual([]);
      const paid = await stage.call<Record<string, unknown>>("GET", `/orders/${id}/`);
      expect(paid).toMatchObject({ status: "paid", payment_status: "paid", due: 0, needs_attention: [] });

      await page.goto(stage.mail_url);
      expect(await findBarriers(page)).toEqual([]);
      for (const event of [" ist bezahlt", ""]) {
        await click(page, "a", `Ihre Bestellung ${paid.number}${event}`);
        await find(page, "td", "1 × ");
        await find(page, `a[href^="${stage.shop_url}/#${id}."]`);
        await page.goBack();
      }
      const list = await readText(page);
      expect(list.split(`to ${email}`).length - 1).toBe(2);
    }, 60_000);

    test("a guest who pays by card and comes back in another tab sees that the payment is being checked, and then that the order is paid", async () => {
      const { page, context } = await stage.chromium.visit(stage.shop_url);
      await chooseLanguage(page, "en");
      await order(page, { add: "Add to basket", email: "late@example.com" });
      await click(page, orderAndPay);
      await isAtPayment(page);
      const pageOfPayment = page.url();
      const [placed] = await stage.call<{ id: string }[]>("GET", "/orders/");
      // The buyer comes back in another tab, before the payment has arrived.
      const tab = await context.newPage();
      await tab.goto(`${stage.shop_url}/#/order/${placed?.id}?returned=true`);
      await find(tab, "[data-test=card]", "We are checking your payment.");
      expect(await findBarriers(tab)).toEqual([]);
      await payElsewhere(pageOfPayment);
      await find(tab, "[data-test=state]", "Paid");
    }, 60_000);

    test("a guest who pays by card in another tab and then cancels the order sees that it is paid", async () => {
      const visit = await stage.chromium.visit(stage.shop_url);
      const { page } = visit;
      visit.allow(/status of 409/);
      await chooseLanguage(page, "en");
      await order(page, { add: "Add to basket", email: "cancels@example.com" });
      await click(page, orderAndPay);
      await isAtPayment(page);
      const pageOfPayment = page.url();
      await click(page, "button[value=leave]");
      await find(page, "[data-test=card]", "No payment has arrived.");
      await payElsewhere(pageOfPayment);
      await click(page, "[data-slot=cancel]");
      await click(page, "dialog [value=yes]");
      await find(page, "[data-test=state]", "Paid");
    }, 60_000);

    test("a guest who pays by card sees an error if the payment page does not open, can open it later, and sees the payment after the Back button", async () => {
      const visit = await stage.chromium.visit(stage.shop_url);
      const { page } = visit;
      visit.allow(/status of 503/, /ERR_FAILED/);
      await chooseLanguage(page, "en");
      let isCut = true;
      // The listener is added first, because an intercepted request without a listener waits for ever.
      page.on("request", (request) => {
        if (request.interceptResolutionState().action === "disabled") return;
        if (isCut && request.method() === "POST" && request.url().includes("/checkout/")) void request.abort();
        else void request.continue();
      });
      // Requests of a service worker are not intercepted.
      await page.setBypassServiceWorker(true);
      await page.setRequestInterception(true);
      await order(page, { add: "Add to basket", email: "closed@example.com" });
      await click(page, orderAndPay);
      await find(page, "[data-test=card]", "The payment page did not open.");
      isCut = false;
      await click(page, "[data-test=card] button", "Pay now");
      await isAtPayment(page);
      await payElsewhere(page.url());
      // The browser's Back button leads to the order.
      await page.goBack();
      await find(page, "[data-test=state]", "Paid");
    }, 60_000);
  });
}
