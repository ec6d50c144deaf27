import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { until } from "../support/until.ts";
import { click, find, findBarriers, isWiderThanScreen, readText, see } from "./chromium.ts";
import { chooseLanguage, fillIn, submit } from "./forms.ts";
import type { Stage } from "./stage.ts";

const words = {
  add: "In den Korb",
  none: "An diese Adresse liefern wir nicht (Schweiz).",
  note: "inkl. MwSt.",
  amounts: ["Rabatt (WELCOME10)\n-5,22\u00a0€", "56,91\u00a0€", "20 % MwSt.\n3,43\u00a0€", "10 % MwSt.\n3,30\u00a0€"],
  submit: "Zahlungspflichtig bestellen",
  thanks: "Danke",
  transfer: "Bitte überweisen Sie 56,91\u00a0€",
  withdraw: "Vertrag widerrufen",
  confirm: "Widerruf bestätigen",
  withdrawn: "Ihr Widerruf ist eingegangen",
};
const phone = { width: 360, height: 800 };
const goods = ["walnut-spoon", "seed-box"];
const checkout = "[data-test=checkout]";
/** The selector of the enabled button. The page disables it while it computes the amounts. */
const orderAndPay = `${checkout} [data-slot=submit]:not([disabled])`;

export function describeGuest(stage: Stage): void {
  const change = (...flags: string[]) =>
    stage.binary.run("tenant", "update", "demo", ...flags, "--data-dir", "bodega-demo");

  async function fillBasket(page: Page, add = "Add to basket"): Promise<void> {
    for (const slug of goods) {
      await page.goto(`${stage.shop_url}/#/p/${slug}`);
      await find(page, "[data-test=price-note]");
      await click(page, ".buying button", add);
      await find(page, "[data-basket-count]", String(goods.indexOf(slug) + 1));
    }
    await page.goto(`${stage.shop_url}/#/checkout`);
    await find(page, checkout);
    await click(page, `${checkout} [name=payment_method]`);
    const transfer = await page.$(`${checkout} [value=manual]`);
    await transfer?.evaluate((one) => (one as unknown as { click: () => void }).click());
  }

  // The order: 18.90 with 20 % tax and 33.33 with 10 % tax, less 10 % discount, and shipping of 9.90, taxed like the
  // goods.
  describe("a guest", () => {
    // The limit of orders is off, because all these guests have the same IP address.
    beforeAll(() => change("--orders-per-minute", "0"));

    // German words are longer than English ones.
    test("a guest buys two products with a discount code in German on a phone, sees the order only with its link, and withdraws in two steps", async () => {
      const visit = await stage.chromium.visit(stage.shop_url, phone);
      const { page } = visit;
      await chooseLanguage(page, "de");
      await fillBasket(page, words.add);
      const grace = { name: "Grace", line1: "Quay 1", city: "Ort", email: "grace@example.com" };
      visit.allow(/status of 409/);
      await fillIn(page, checkout, { ...grace, postal_code: "8001", country: "CH" });
      await find(page, "[data-test=shipping]", words.none);
      expect(await page.$eval(`${checkout} [data-slot=submit]`, (one) => one.hasAttribute("disabled"))).toBe(true);
      expect(await findBarriers(page)).toEqual([]);

      await fillIn(page, checkout, { postal_code: "1010", country: "AT" });
      await find(page, "[data-test=shipping] [type=radio]");
      await page.type("#code", "welcome10");
      await page.keyboard.press("Enter");
      await find(page, "[data-test=totals]", "WELCOME10");
      await find(page, "[data-test=tax-note]", words.note);
      const amounts = await readText(page, "[data-test=totals]");
      for (const amount of words.amounts) expect(amounts).toContain(amount);
      expect(await findBarriers(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      await click(page, `${checkout} button:not([disabled])`, words.submit);

      await find(page, "h1", words.thanks);
      await find(page, "[data-test=transfer]", words.transfer);
      expect(await readText(page, "[data-test=totals]")).toBe(amounts);
      expect(await findBarriers(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      const [, id] = /#\/order\/(ord_\w+)/.exec(page.url()) ?? [];
      const token = await page.evaluate(`sessionStorage.getItem("shop order ${id}")`);

      // A second device opens the link; a stranger opens the address without the token.
      const other = await stage.chromium.visit(`${stage.shop_url}/#${id}.${token}`, phone);
      await find(other.page, "[data-test=transfer]", "IBAN");
      expect(other.page.url()).toBe(`${stage.shop_url}/#/order/${id}`);
      const stranger = await stage.chromium.visit(`${stage.shop_url}/#/order/${id}`);
      await find(stranger.page, "[data-test=lost-link]");
      stranger.allow(/status of 404/);
      await stranger.page.goto(`${stage.shop_url}/#${id}.${"0".repeat(64)}`);
      await find(stranger.page, "[data-test=lost-link]");

      await stage.call("POST", `/orders/${id}/pay/`, {});
      await stage.call("POST", `/orders/${id}/fulfillments/`, { tracking: { carrier: "DHL", number: "00340434" } });
      await page.reload();
      const parcel = await find(page, "[data-test=parcel] a", "DHL 00340434");
      expect(await parcel.evaluate((one) => one.getAttribute("href"))).toContain("00340434");
      expect(await isWiderThanScreen(page)).toBe(false);
      await click(page, "main a", words.withdraw);
      expect(await findBarriers(page)).toEqual([]);
      await click(page, "[data-test=withdraw] button", words.confirm);
      await find(page, "[data-test=withdrawn] h1", words.withdrawn);
      await page.goto(`${stage.shop_url}/#/order/${id}`);
      await find(page, "main p", words.withdrawn);
      const order = await stage.call<{ needs_attention: string[] }>("GET", `/orders/${id}/`);
      expect(order.needs_attention).toEqual(["withdrawal"]);
    }, 60_000);

    test("a guest opens the order with a mailed link, withdraws with the link in the footer, and reads the legal texts", async () => {
      const { page } = await stage.chromium.visit(stage.shop_url);
      await fillBasket(page);
      const email = "linus@example.com";
      const to = { name: "Linus", line1: "Quay 1", city: "Hamburg", postal_code: "20457", country: "DE", email };
      await fillIn(page, checkout, to);
      await click(page, orderAndPay);
      const placed = await (await find(page, "[data-test=transfer] strong")).evaluate((one) => one.textContent);
      const [id] = /ord_\w+/.exec(page.url()) ?? [];
      const { number } = await stage.call<{ number: number }>("GET", `/orders/${id}/`);
      expect(placed).toMatch(/^RF\d\d/);

      const other = await stage.chromium.visit(`${stage.shop_url}/#/link`);
      const named = { number: String(number), email };
      await submit(other.page, "[data-test=lost-link]", named);
      await see(other.page, "a link to it is on its way");
      const link = await until("the mailed link", async () => {
        const list = ["mail", "list", "-n", "demo", "--to", email, "--data-dir", "bodega-demo"];
        const mails = await stage.binary.json<{ kind: string; code?: string }[]>(...list);
        return mails.find(({ kind }) => kind === "order_link")?.code;
      });
      await other.page.goto(link);
      await find(other.page, "h1", `Order ${number}`);
      expect(other.page.url()).toBe(`${stage.shop_url}/#/order/${id}`);

      const third = await stage.chromium.visit(stage.shop_url);
      await click(third.page, "footer a", "Withdraw from contract");
      await submit(third.page, "[data-test=withdraw]", { ...named, name: "Linus" });
      await find(third.page, "[data-test=withdrawn] h1", "We have received your withdrawal");
      const order = await stage.call<{ needs_attention: string[] }>("GET", `/orders/${id}/`);
      expect(order.needs_attention).toEqual(["withdrawal"]);
      // The link opens the form again, although the page with the receipt has replaced the form.
      await click(third.page, "footer a", "Withdraw from contract");
      await find(third.page, "[data-test=withdraw]");
      // An unpaid order from which the buyer has withdrawn does not ask to be paid.
      await find(other.page, "[data-test=transfer]");
      await click(other.page, "main a", "Withdraw from contract");
      await click(other.page, "[data-test=withdraw] button", "Confirm withdrawal");
      await find(other.page, "[data-test=withdrawn]");
      await other.page.goto(`${stage.shop_url}/#/order/${id}`);
      await find(other.page, "main p", "We have received your withdrawal");
      expect(await other.page.$("[data-test=transfer]")).toBeNull();
      for (const name of ["Imprint", "Terms", "Right of withdrawal", "Privacy"]) {
        await click(third.page, "footer a", name);
        await find(third.page, "main h1", name);
      }
      expect(await findBarriers(third.page)).toEqual([]);
    }, 60_000);

    test("a guest keeps entered data, sees the total with a discount code before ordering, and sees amounts again when back online", async () => {
      expect(await change("--transfer-instructions=")).toMatchObject({ code: 0 });
      const visit = await stage.chromium.visit(stage.shop_url, { hasWorker: true });
      const { page } = visit;
      await fillBasket(page);
      await find(page, orderAndPay);
      expect(await readText(page, checkout)).not.toContain("By bank transfer");
      await change("--transfer-instructions", "IBAN DE02");
      const email = "ada@example.com";
      const to = { name: "Ada", line1: "Quay 1", city: "Hamburg", postal_code: "20457", country: "DE", email };
      await fillIn(page, checkout, to);
      await page.type("#code", "welcome10");
      await click(page, ".languages button[value=de]");
      await find(page, "main h1", "Kasse");
      await click(page, ".languages button[value=en]");
      await find(page, "main h1", "Checkout");
      // Waits, because the words change before the page is drawn again.
      await page.waitForNetworkIdle();
      await click(page, orderAndPay);
      await see(page, "The total has changed");
      await find(page, "[data-test=totals]", "WELCOME10");
      await page.reload();
      await find(page, "[data-test=totals]", "WELCOME10");
      const typed = await page.$$eval(`${checkout} input[id]`, (all) => all.map((one) => one.value));
      for (const text of ["Ada", "Quay 1", "Hamburg", "20457", email, "welcome10"]) expect(typed).toContain(text);

      visit.allow(/ERR_INTERNET_DISCONNECTED/);
      await page.setOfflineMode(true);
      await fillIn(page, checkout, { country: "AT" });
      await find(page, `${checkout} button`, "Try again");
      await page.setOfflineMode(false);
      await find(page, "[data-test=totals]", "20% VAT");
      await find(page, orderAndPay);
    }, 60_000);

    test("a guest sees before ordering why a quantity cannot be ordered", async () => {
      const about = { title: "Rare thing", price: 5, stock: 12 };
      const { slug } = await stage.call<{ slug: string }>("POST", "/products/", about);
      const visit = await stage.chromium.visit(`${stage.shop_url}/#/p/${slug}`);
      const { page } = visit;
      visit.allow(/status of 409/, /status of 429/);
      await click(page, ".buying button", "Add to basket");
      await find(page, "[data-basket-count]", "1");
      const order = async (quantity: number) => {
        await page.evaluate(`localStorage["shop basket"] =
          localStorage["shop basket"].replace(/"quantity":\\d+/, '"quantity":${quantity}')`);
        await page.goto(`${stage.shop_url}/#/checkout`);
        await page.reload();
        await click(page, `${checkout} [value=manual]`);
      };
      await order(8);
      await see(page, "more than we can reserve until a bank transfer arrives: Rare thing.");
      await order(11);
      await see(page, "You can have at most 10 of this in unpaid orders: Rare thing.");
      await order(1);
      const basket = await page.evaluate('localStorage["shop basket"]');
      const to = { name: "Eve", line1: "Quay 1", city: "Hamburg", postal_code: "20457", country: "DE" };
      await fillIn(page, checkout, { ...to, email: "eve@example.com" });
      await click(page, orderAndPay);
      await see(page, "Thank you");
      expect(await change("--pending-orders", "1")).toMatchObject({ code: 0 });
      await page.evaluate(`localStorage["shop basket"] = ${JSON.stringify(basket)}`);
      await order(1);
      await see(page, "Please pay or cancel one of them first. The next one expires in ");
      await find(page, checkout);
      await change("--pending-orders", "10");
      await click(page, `${checkout} button`, "Try again");
      await find(page, orderAndPay);
      await stage.call("DELETE", `/products/${slug}/`);
    }, 60_000);

    test("a guest sees the store's tax note instead of the tax, and sees added tax if prices exclude it", async () => {
      const { page } = await stage.chromium.visit(stage.shop_url);
      await fillBasket(page);
      expect(await change("--tax-note", "No VAT (section 19 UStG).")).toMatchObject({ code: 0 });
      await page.reload();
      await find(page, "[data-test=tax-note]", "No VAT (section 19 UStG).");
      await find(page, "footer", "Prices: No VAT (section 19 UStG). Plus shipping.");
      expect(await change("--tax-note=", "--prices-include-tax", "no")).toMatchObject({ code: 0 });
      await page.reload();
      await find(page, "[data-test=tax-note]", "plus VAT");
      await find(page, "[data-test=totals]", "plus 19% VAT");
      expect(await change("--prices-include-tax", "yes")).toMatchObject({ code: 0 });
    }, 60_000);
  });
}
