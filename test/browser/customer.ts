import { describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { CDPSession, Page } from "puppeteer-core";
import { startPushService } from "../support/push-service.ts";
import { until } from "../support/until.ts";
import { click, find, findBarriers, readText, see } from "./chromium.ts";
import { fillIn, submit } from "./forms.ts";
import type { Stage } from "./stage.ts";

async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await submit(page, "main form", { email, password });
}

const byTransfer = "[data-test=checkout] [value=manual]";
/** The selector of the enabled button. The page disables it while it computes the amounts. */
const orderAndPay = "[data-test=checkout] [data-slot=submit]:not([disabled])";

/** Returns the id of the page's service worker, to which the test delivers push messages. */
async function findWorker(cdp: CDPSession): Promise<string> {
  let id = "";
  cdp.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
    id = versions.find(({ status }) => status === "activated")?.registrationId ?? id;
  });
  await cdp.send("ServiceWorker.enable");
  return until("the service worker", () => id !== "" && id);
}

export function describeCustomer(stage: Stage): void {
  /** Returns the newest code in the output of `bodega mail list`. */
  async function readCode(kind: string, email: string): Promise<string> {
    const words = ["mail", "list", "-n", "demo", "--data-dir", "bodega-demo"];
    return until("the mailed code", async () => {
      const mails = await stage.binary.json<{ kind: string; code?: string }[]>(...words, "--to", email);
      return mails.find((one) => one.kind === kind)?.code;
    });
  }

  describe("a customer", () => {
    test("a customer signs up with the mailed code, orders for exactly the shown total, sees the order, and is notified", async () => {
      const service = await startPushService();
      const subscriber = service.subscribe();
      const visit = await stage.chromium.visit("about:blank", { hasWorker: true });
      const { page, context } = visit;
      await context.overridePermissions(stage.shop_url, ["notifications"]);
      // The page subscribes at a push service of this machine, because Chromium's own one is on the internet.
      await page.evaluateOnNewDocument(`{
        const subscription = { toJSON: () => (${JSON.stringify(subscriber.subscription)}), unsubscribe: async () => true };
        let current = null;
        PushManager.prototype.subscribe = async () => (current = subscription);
        PushManager.prototype.getSubscription = async () => current;
      }`);
      await page.goto(`${stage.shop_url}/#/p/enamel-mug`);
      await click(page, ".buying button", "Add to basket");
      await page.goto(`${stage.shop_url}/#/basket`);
      await click(page, ".sum a", "Order");
      await click(page, "main a", "I have an account");
      await click(page, "main a", "Create an account");
      const account = { email: "grace@example.com", password: "Vermilion-Kettle-4871" };
      await submit(page, "main form", { name: "Grace", ...account });
      await see(page, "Look into your mailbox");
      expect(await findBarriers(page)).toEqual([]);
      await submit(page, "main form", { code: await readCode("sign_up_code", account.email) });

      await see(page, "Where shall it go?");
      expect(await findBarriers(page)).toEqual([]);
      const to = { line1: "Quay 1", postal_code: "20457", city: "Hamburg", country: "DE" };
      await fillIn(page, "main form", to);
      await click(page, byTransfer);
      await click(page, orderAndPay);
      await see(page, "Thank you");
      const [, id] = /#\/order\/(ord_\w+)/.exec(page.url()) ?? [];
      const { number } = await stage.call<{ number: number }>("GET", `/orders/${id}/`);
      await see(page, `Your order has the number ${number}.`);
      expect(await findBarriers(page)).toEqual([]);
      await click(page, "main a", "Your orders");
      await find(page, "[data-test=order]", `Order ${number}`);

      await page.goto(`${stage.shop_url}/#/account`);
      await click(page, "main button", "Turn on in this browser");
      await see(page, "You will hear from us.");
      await click(page, "details summary", "Change password");
      await click(page, "main button", "Suggest a password");
      const suggested = await find(page, "[data-test=change-password] [name=password]");
      expect(await suggested.evaluate((one) => one.getAttribute("type"))).toBe("text");
      expect(await page.$$("[data-test=change-password] .rules li:not(.is-met)")).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
      await submit(page, "[data-test=change-password] form", { current_password: account.password });
      await see(page, "Your password is changed.");
      const cdp = await page.createCDPSession();
      const registrationId = await findWorker(cdp);
      await stage.call("POST", `/orders/${id}/pay/`, {});
      const [message] = await until("the message", () => subscriber.messages().length > 0 && subscriber.messages());
      const data = JSON.stringify(message);
      const shown = `navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then(([one]) => one?.body)`;
      // Repeats the message until it is shown, because DevTools does not say whether the service worker got it.
      const body = await until("the notification", async () => {
        await cdp.send("ServiceWorker.deliverPushMessage", { origin: stage.shop_url, registrationId, data });
        const found = await page.waitForFunction(shown, { polling: 100, timeout: 2000 }).catch(() => null);
        return found?.jsonValue();
      });
      expect(body).toBe(message?.body as string);
      expect(message?.body).toContain(String(number));

      // The checkout orders the shown products, even if another tab changes the basket.
      await page.goto(`${stage.shop_url}/#/p/enamel-mug`);
      await click(page, ".buying button", "Add to basket");
      await page.goto(`${stage.shop_url}/#/checkout`);
      await see(page, "1 × Enamel mug");

      const other = await context.newPage();
      await other.goto(`${stage.shop_url}/#/account`);
      const fillBasket = `localStorage["shop basket"] = '{"id":"other tab","lines":' + JSON.stringify(
        JSON.parse(localStorage["shop basket"]).lines.map((line) => ({ ...line, quantity: 2 }))) + "}"`;
      const basket = await other.evaluate(fillBasket);
      await fillIn(page, "main form", to);
      await click(page, byTransfer);
      await find(page, orderAndPay);
      const mug = await stage.call<{ id: string; price: number }>("GET", "/products/enamel-mug/");
      await stage.call("PATCH", `/products/${mug.id}/`, { price: mug.price + 1 });
      const readTotal = () => readText(page, "[data-test=totals] dd.total");
      const before = await readTotal();
      visit.allow(/status of 409/);
      await click(page, orderAndPay);
      await see(page, "The total has changed");
      const asked = await readTotal();
      expect(asked).not.toBe(before);
      await click(page, orderAndPay);
      await see(page, "Thank you");
      await see(page, "1 piece");
      expect(await readTotal()).toBe(asked);

      // The test does not use the other tab, whose changes reach this tab later.
      await page.evaluate(`localStorage["shop basket"] = ${JSON.stringify(basket)}`);
      await page.goto(`${stage.shop_url}/#/checkout`);
      await see(page, "2 × Enamel mug");
      await page.goto(`${stage.shop_url}/#/orders`);
      await find(page, "[data-test=order]", `Order ${number}`);
      await click(other, "main button", "Sign out");
      await see(page, "Please sign in to go on.");
      expect(page.url()).toEndWith("#/sign-in?next=%23%2Forders");
      await service.close();
    }, 60_000);

    test("a customer signs in with a mailed code, enables two-factor, signs in with a one-time code, and is asked to sign in again when the token has expired", async () => {
      const visit = await stage.chromium.visit(`${stage.shop_url}/#/wishlist`);
      const { page } = visit;
      await click(page, "main button", "Mail me a code");
      await see(page, "Please fill this in.");
      expect(await findBarriers(page)).toEqual([]);
      await fillIn(page, "main form", { email: stage.email });
      await click(page, "main button", "Mail me a code");
      await see(page, "Look into your mailbox");
      expect(await findBarriers(page)).toEqual([]);
      await submit(page, "main form", { code: await readCode("login_code", stage.email) });
      await see(page, "Nothing is on it yet.");
      await page.goto(`${stage.shop_url}/#/p/enamel-mug`);
      await click(page, "main button", "Add to wishlist");
      await see(page, "Enamel mug is on your wishlist.");
      await page.goto(`${stage.shop_url}/#/wishlist`);
      await find(page, "[data-test=wish]", "Enamel mug");

      await page.goto(`${stage.shop_url}/#/account`);
      await see(page, "Two-factor sign-in");
      expect(await findBarriers(page)).toEqual([]);
      if (await page.$("details:not([open]) summary")) await click(page, "details summary", "Turn it on");
      await submit(page, "main form", { password: stage.password });
      await see(page, "Scan this with your app");
      const secret = Secret.fromBase32(/[A-Z2-7]{32,}/.exec(await readText(page))?.[0] ?? "");
      // Each code is accepted only once, so each call uses the code of another half minute.
      const codeOf = (later: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + later * 30_000 });
      await submit(page, "main form", { otp: codeOf(0) });
      await see(page, "Keep these recovery codes");
      await click(page, "main button", "I have kept them");
      // Signs out without a request, because an address may make only ten sign-in calls a minute.
      await page.evaluate("localStorage.clear()");
      await page.reload();
      visit.allow(/status of 401/);
      await signIn(page, stage);
      await submit(page, "main form", { otp: codeOf(1) });
      await see(page, "Two-factor sign-in");

      const revoke = ["token", "revoke", "-n", "demo", "--user", stage.email, "--yes", "--data-dir", "bodega-demo"];
      expect(await stage.binary.run(...revoke)).toMatchObject({ code: 0 });
      await page.goto(`${stage.shop_url}/#/orders`);
      await see(page, "Please sign in to go on.");
      await find(page, "main form [name=password]");
      expect(page.url()).toEndWith("#/sign-in?next=%23%2Forders");
    }, 60_000);
  });
}
