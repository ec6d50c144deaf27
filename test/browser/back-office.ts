import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { newPng } from "../support/pictures.ts";
import { codeAt } from "../support/totp.ts";
import { until } from "../support/until.ts";
import { click, find, findBarriers, isWiderThanScreen, see } from "./chromium.ts";
import { fillIn, submit } from "./forms.ts";
import type { Stage } from "./stage.ts";

const phone = { width: 390, height: 844 };
const hostile = `<img src=x onerror="document.title='gone'">`;

interface Order {
  id: string;
  number: number;
  items: { id: string; title: string; total: number }[];
}

export function describeBackOffice(stage: Stage): void {
  // An address may make only ten sign-in calls a minute.
  const ownAddress = { "x-forwarded-for": "198.51.100.7" };
  async function visitOffice() {
    const visit = await stage.chromium.visit(stage.back_office_url, phone);
    await visit.page.setExtraHTTPHeaders(ownAddress);
    return visit;
  }

  async function signIn(given: Record<string, string> = {}) {
    const visit = await visitOffice();
    await enter(visit.page, given);
    return visit;
  }
  const enter = (page: Page, given: Record<string, string> = {}) =>
    submit(page, "main form", { email: stage.owner_email, password: stage.password, ...given });
  const open = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  const expectUsable = async (page: Page) => {
    expect(await isWiderThanScreen(page)).toBe(false);
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.title()).not.toBe("gone");
  };

  async function placeOrder(): Promise<Order> {
    const product = await stage.call<{ id: string }>("POST", "/products/", { title: hostile, price: 5, stock: 9 });
    const rates = await stage.call<{ id: string; countries: string[] }[]>("GET", "/shipping/rates/");
    const address = { name: hostile, line1: hostile, postal_code: "10115", city: "Berlin", country: "DE" };
    const order = await stage.call<Order>("POST", "/orders/", {
      items: [{ product_id: product.id, quantity: 3 }],
      ...{ email: "grace@example.com", note: hostile, shipping_address: address, payment_method: "manual" },
      shipping_rate: rates.find(({ countries }) => countries.includes("DE"))?.id,
    });
    await stage.call("DELETE", `/products/${product.id}/`);
    return order;
  }

  describe("the back office", () => {
    test("the back office on a phone shows withdrawals, books a payment, ships in parts, refunds a line after a preview, and never runs texts as code", async () => {
      const { id, number, items } = await placeOrder();
      const line = items[0]?.id as string;
      const withdrawal = { number, email: "grace@example.com", name: hostile, lines: [{ line_id: line, quantity: 1 }] };
      await stage.call("POST", "/orders/withdrawals/", { ...withdrawal, text: `${hostile} of the order` });
      const unknown = { ...withdrawal, number: 999_999, lines: undefined, text: `${hostile} of nothing` };
      await stage.call("POST", "/orders/withdrawals/", unknown);
      const mail = /mail_\w+(?=">[^<]*New order)/.exec(await (await fetch(stage.mail_url)).text())?.[0];
      const link = `${stage.back_office_url}#/orders?q=${number}`;
      expect(await (await fetch(`${stage.mail_url}/${mail}`)).text()).toContain(`href="${link}"`);
      const { page } = await visitOffice();
      await find(page, "main form");
      await expectUsable(page);
      // Uses only the keyboard.
      await page.type("[name=email]", stage.owner_email);
      await page.type("[name=password]", stage.password);
      await page.keyboard.press("Enter");
      await find(page, "h1", "To do");
      await see(page, "Withdrawals that match no order");
      await see(page, `${hostile} of nothing`);
      await expectUsable(page);
      await open(page, `#/orders?q=${encodeURIComponent(hostile)}`);
      await click(page, ".row", `Order ${number}`);
      await find(page, "section:has(h2) dd", `1 × ${hostile}`);
      await find(page, "dd", `${hostile} of the order`);
      // Text in one form stays when another form is saved.
      await fillIn(page, "form:has([name=staff_note])", { staff_note: hostile });
      await click(page, "summary", "Book a payment");
      await submit(page, "form:has([name=received_at])", { reference: "bank-1" });
      await see(page, "€19.90 is booked.");
      await submit(page, "form:has([name=staff_note])", {});
      await see(page, "The note is saved.");
      await click(page, "summary", "Ship");
      await submit(page, "form:has([name=carrier])", { [line]: "2", carrier: "DHL", number: "00340434161094015902" });
      await see(page, "Shipped in part");
      await click(page, "summary", "Refund");
      await submit(page, "form:has([name=reason])", { [line]: "1", reason: hostile });
      await see(page, "Refund €5.00?");
      expect(await stage.call("GET", `/orders/${id}/`)).toMatchObject({ returned: 0 });
      await click(page, "button", "Refund now");
      await see(page, "€5.00 refunded.");
      expect(await stage.call("GET", `/orders/${id}/`)).toMatchObject({
        ...{ received: 19.9, returned: 5, status: "completed", staff_note: hostile },
        fulfillments: [{ lines: [{ line_id: line, quantity: 2 }], tracking: { carrier: "DHL" } }],
        refunds: [{ amount: 5, reason: hostile, lines: [{ line_id: line, quantity: 1 }] }],
      });
      await expectUsable(page);
      // Nothing is left to send, so the slip of the order shows what was sent.
      await click(page, ".page > .buttons a", "Packing slip");
      await find(page, "tr:has(td:first-child)", `2${hostile}`);
      await click(page, "a", "Back to the order");
      await click(page, ".lines a", "Packing slip");
      await find(page, "td", hostile);
      await expectUsable(page);
      await page.emulateMediaType("print");
      expect(await page.$eval(".places", (nav) => nav.checkVisibility())).toBe(false);
      await page.setOfflineMode(true);
      await page.emulateMediaType("screen");
      await see(page, "You are offline.");
    }, 90_000);

    test("the back office on a phone creates a product with dropped and chosen pictures, publishes it, and corrects a price and a mail text after German error messages", async () => {
      const visit = await signIn();
      const { page } = visit;
      await find(page, "h1", "To do");
      await open(page, "#/products/new");
      await find(page, "[name=price]");
      const asked: string[] = [];
      page.on("dialog", (dialog) => {
        asked.push(dialog.message());
        return dialog.dismiss();
      });
      const png = newPng();
      const file = join(stage.binary.dir, "mug.png");
      writeFileSync(file, png);
      // The project has no types for elements of a browser.
      const chooser = (await page.$("input[type=file][multiple]")) as unknown as {
        uploadFile: (path: string) => Promise<void>;
      };
      await chooser.uploadFile(file);
      await find(page, ".pictures li");
      const other = Buffer.from(newPng()).toString("base64");
      await page.evaluate(`(() => {
        const bytes = Uint8Array.from(atob("${other}"), (one) => one.charCodeAt(0));
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([bytes], "drop.png", { type: "image/png" }));
        document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
      })()`);
      await find(page, ".pictures li:nth-child(2)");
      await fillIn(page, "main form", { title: hostile, price: "12,50", stock: "4" });
      await expectUsable(page);
      await click(page, ".places a", "Orders");
      await click(page, ".languages button", "DE");
      expect(asked).toEqual(Array(2).fill("Leave this page? Your changes are not saved."));
      await click(page, "main form > button");
      await see(page, "saved as a draft");
      await click(page, "button", "Publish");
      await see(page, "The product is published.");
      await click(page, ".languages button", "DE");
      await find(page, "button", "Speichern");
      visit.allow(/status of 4(?:09|22)/);
      const fault = `document.body.innerText.includes("Höchstens 2 Nachkommastellen.")`;
      // When its texts arrive, the form may be drawn again with the stored price.
      await until("the fault", async () => {
        await submit(page, "main form", { price: "13,905" });
        return page.waitForFunction(fault, { timeout: 5000 }).catch(() => null);
      });
      const id = new URL(page.url()).hash.split("/").at(-1);
      const colleague = (price: number) => stage.call("PATCH", `/products/${id}/`, { price });
      await colleague(14);
      await submit(page, "main form", { price: "13,90" });
      await see(page, "Das wurde inzwischen geändert");
      expect(await stage.call("GET", `/products/${id}/`)).toMatchObject({ price: 14 });
      await colleague(12.5);
      await click(page, "summary", "Weitere Angaben");
      const others = await stage.call<{ sku: string | null }[]>("GET", "/products/");
      await submit(page, "main form", { sku: others.find(({ sku }) => sku !== null)?.sku as string });
      await see(page, "Ein anderer Artikel hat das schon.");
      await submit(page, "main form", { price: "13,90", weight_g: "300", sku: "" });
      await see(page, "Gespeichert.");
      await expectUsable(page);
      const product = await stage.call<{ images: object[] }>("GET", `/products/${id}/`);
      expect(product).toMatchObject({ title: hostile, price: 13.9, weight_g: 300, stock: 4, status: "published" });
      expect(product.images).toHaveLength(2);
      await stage.call("DELETE", `/products/${id}/`);
      await open(page, "#/mails?language=fr");
      await click(page, "summary", "Code für ein neues Passwort");
      await submit(page, "details[open] form", { subject: "{order.number}" });
      await see(page, "{order.number} ist kein Platzhalter dieser E-Mail.");
      await submit(page, "details[open] form", { subject: "{store}" });
      await find(page, "summary", "Code für ein neues Passwort · geändert");
      await expectUsable(page);
      const mail = { kind: "reset_code", language: "fr", subject: "{name}", heading: null, paragraphs: ["{code}"] };
      await page.evaluate(
        `import("./app/store.js").then(({ shop }) => shop.mail.replaceTemplate(${JSON.stringify(mail)}))`,
      );
      await submit(page, "details[open] form", { subject: "{store}!" });
      await see(page, "Das wurde inzwischen geändert");
      expect(asked).toHaveLength(2);
    }, 90_000);

    test("the back office requires the second factor of staff, keeps the chosen store of each tab, ends a replaced session, and cannot be framed", async () => {
      const { headers } = await fetch(stage.back_office_url);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toMatch(/connect-src 'self';.*frame-ancestors 'none'/);
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      const visit = await signIn({ email: stage.email });
      const { page } = visit;
      visit.allow(/status of (?:401|403|404)/);
      await see(page, "This account belongs to a customer.");
      const other = await visit.context.newPage();
      await other.goto(stage.back_office_url.replace("=demo", "=other"));
      await find(other, "main form");
      await other.close();
      await enter(page, { store: "other" });
      await see(page, "There is no store with this name.");
      await enter(page, { store: "demo" });
      await find(page, "h1", "To do");
      const lifetime = `Object.entries(sessionStorage).filter(([name]) => /^back-office bodega.*session$/.test(name))
        .map(([, kept]) => Math.ceil((Date.parse(JSON.parse(kept).expires_at) - Date.now()) / 3_600_000))`;
      expect(await page.evaluate(lifetime)).toEqual([12]);
      await open(page, "#/account");
      await submit(page, "main form", { password: stage.password });
      const secret = await (await find(page, "code")).evaluate((one) => one.textContent);
      await submit(page, "main form", { otp: await codeAt(secret ?? "", Date.now()) });
      const recovery = await (await find(page, ".codes code")).evaluate((one) => one.textContent);
      const login = await fetch(`${stage.url}/auth/login/?namespace=demo`, {
        method: "POST",
        headers: { "content-type": "application/json", ...ownAddress },
        body: JSON.stringify({ email: stage.owner_email, password: stage.password, otp: recovery }),
      });
      expect(login.status).toBe(200);
      await open(page, "#/orders");
      await see(page, "Your session has ended");
      await expectUsable(page);
      await enter(page);
      await find(page, "[name=otp]");
      await open(page, "#/reset?email=ada@example.com&code=123456");
      await find(page, "h1", "Choose a password");
      expect(await page.evaluate("location.hash")).not.toContain("123456");
    }, 90_000);
  });
}
