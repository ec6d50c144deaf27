import { afterAll, expect, test } from "bun:test";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { refundOrder } from "../../../src/server/modules/orders/refund.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder } from "../../support/orders.ts";
import { readVapid } from "../../support/push-browser.ts";
import type { Subscriber } from "../../support/push-service.ts";
import { closePushServices, openPushes } from "../../support/pushes.ts";
import { onDatabase } from "../../support/suite.ts";

afterAll(closePushServices);

onDatabase(
  "file",
  (suite) => {
    /** Registers a browser of the signed-in user over HTTP. */
    async function register(
      { shop }: Awaited<ReturnType<typeof openPushes>>,
      { subscription }: Subscriber,
      { by, lang, topics }: { by?: Account; lang?: string; topics?: string[] } = {},
    ): Promise<void> {
      const body = { platform: "web", subscription, ...(lang && { lang }), ...(topics && { topics }) };
      const { status, text } = await (by?.call ?? shop.callAnonymously)("POST /notifications/register/", {
        body,
        ...(by && { query: { user_id: by.id, token: by.token } }),
      });
      if (status !== 201) throw new Error(`It was not registered: ${text}`);
    }

    test("a customer's device is notified of the payment, encrypted for the device and signed by the server", async () => {
      const open = await openPushes(suite, { app: true });
      const { shop, service, sender } = open;
      const [ann, bob] = [await openAccount(shop), await openAccount(shop)];
      const phone = service.subscribe();
      const other = service.subscribe();
      await register(open, phone, { by: ann, lang: "fr" });
      await register(open, other, { by: bob });
      const { id: product_id } = await shop.createProduct();
      const order = await makeOrder(shop, [{ product_id }], { customer_id: ann.id });
      expect(await sender.runUntilIdle()).toBe(0);
      await actOn(shop, order, "pay");
      expect(await sender.runUntilIdle()).toBe(1);
      const body = `Votre paiement pour la commande ${order.number} a bien été reçu. Merci !`;
      const data = { type: "order.paid", order_id: order.id, number: order.number, status: "paid" };
      expect(phone.messages()).toEqual([{ title: "Lamps & more", body, tag: order.id, data }]);
      const [message] = service.received;
      expect(() => other.decrypt(message?.body ?? new Uint8Array())).toThrow();
      const { data: offer } = await shop.callAnonymously<{ vapid_public_key: string }>("GET /notifications/register/");
      const { authorization = "", ttl, urgency, topic } = message?.headers ?? {};
      expect(readVapid(authorization, offer.vapid_public_key).aud).toBe(service.origin);
      expect([ttl, urgency, topic]).toEqual(["86400", "high", order.id]);
    });

    test("each change of an order's state is notified once, in the language of each device; a guest's order and a new order cause no notification", async () => {
      const open = await openPushes(suite, { app: true });
      const { shop, service, sender, rows } = open;
      const ann = await openAccount(shop);
      const [german, unknown] = [service.subscribe(), service.subscribe()];
      await register(open, german, { by: ann, lang: "de-AT" });
      await register(open, unknown, { by: ann, lang: "tlh" });
      const { id: product_id } = await shop.createProduct({ stock: 9 });
      const make = (fields = {}) => makeOrder(shop, [{ product_id }], fields);
      const own = { customer_id: ann.id };
      const [paid, cancelled, expired, guests] = [await make(own), await make(own), await make(own), await make()];
      await actOn(shop, guests, "pay");
      for (const act of ["pay", "fulfill", "refund"] as const) {
        await actOn(shop, paid, act);
        await sender.runUntilIdle();
      }
      await actOn(shop, cancelled, "cancel");
      await sender.runUntilIdle();
      suite.app.clock.advance(3_600_000);
      await expireDueOrders(suite.app.system);
      await sender.runUntilIdle();
      const said = [
        [paid, "paid", "Ihre Zahlung für die Bestellung # ist eingegangen. Vielen Dank!"],
        [paid, "fulfilled", "Die Bestellung # ist abgeschlossen."],
        [paid, "refunded", "Für die Bestellung # wurde Geld erstattet."],
        [cancelled, "cancelled", "Die Bestellung # wurde storniert."],
        [expired, "expired", "Die Bestellung # ist verfallen, weil sie nicht rechtzeitig bezahlt wurde."],
      ] as const;
      expect(german.messages().map(({ body }) => body)).toEqual(
        said.map(([{ number }, , text]) => text.replace("#", String(number))),
      );
      expect(unknown.messages().map(({ data }) => (data as { type: string }).type)).toEqual(
        said.map(([, event]) => `order.${event}`),
      );
      expect(unknown.messages()[1]?.body).toBe(`Order ${paid.number} has been completed.`);
      expect(await rows("select 1 from push_messages")).toHaveLength(5);
    });

    test("no notification is queued for a refused or rolled-back change of an order, or for a customer without devices", async () => {
      const open = await openPushes(suite, { app: true });
      const { shop, service, sender, rows } = open;
      const [ann, bob] = [await openAccount(shop), await openAccount(shop)];
      await register(open, service.subscribe(), { by: ann });
      const { id: product_id } = await shop.createProduct();
      const order = await makeOrder(shop, [{ product_id }], { customer_id: ann.id });
      await actOn(shop, await makeOrder(shop, [{ product_id }], { customer_id: bob.id }), "pay");
      await shop.call(`POST /orders/${order.id}/refund/`);
      expect(await rows("select 1 from push_messages")).toEqual([]);
      await actOn(shop, order, "pay");
      await refundOrder(await tenantContext(shop), order.id, {}, { isDryRun: true });
      expect(await sender.runUntilIdle()).toBe(1);
    });
  },
  { push: { allowPrivate: true } },
);
