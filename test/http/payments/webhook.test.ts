import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Stripe as Library } from "stripe";
import type { Config } from "../../../src/server/config/config.ts";
import { AppError } from "../../../src/server/errors.ts";
import { checkPayments } from "../../../src/server/health/environment/payments.ts";
import type { StoreSubject } from "../../../src/server/health/finding.ts";
import {
  checkAccount,
  connectStripe,
  disconnectStripe,
  showAccount,
} from "../../../src/server/modules/payments/stripe/connect.ts";
import { fromStripe, toStripe } from "../../../src/server/modules/payments/stripe/units.ts";
import { attempt } from "../../../src/server/values/attempt.ts";
import { decimalsOf } from "../../../src/server/values/currency.ts";
import { createShop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { makeOrder } from "../../support/orders.ts";
import { openPayShop, returnUrls, stripeKey } from "../../support/pay-shop.ts";
import { postWebhook } from "../../support/stripe.ts";

Object.assign(Library.prototype, { getInitialNetworkRetryDelay: () => 0 });

let world: Awaited<ReturnType<typeof openPayShop>>;
beforeAll(async () => {
  world = await openPayShop();
});
afterAll(() => world.close());

/** A paid session and the webhook that reports it, which was not delivered. */
async function makeReport() {
  const order = await world.order();
  world.stripe.delivery = "held";
  world.stripe.pay(world.sessionOf(await world.checkout(order)));
  world.stripe.delivery = "auto";
  // The other stores of these tests share the Stripe account.
  const index = world.stripe.webhooks.findLastIndex(({ url }) => url.includes(world.shop.namespace));
  const webhook = world.stripe.webhooks[index];
  if (!webhook) throw new Error("There is no webhook.");
  return { order, index, webhook };
}

const minute = 60_000;

describe("a call of Stripe", () => {
  test("a call of Stripe that is forged, unsigned, too old or for another store changes nothing and causes no call to Stripe", async () => {
    const { order, index, webhook } = await makeReport();
    const other = await createShop(world.app);
    const ctx = { ...(await tenantContext(other)), payments: world.app.payments };
    await connectStripe(ctx, { key: stripeKey });
    const before = world.stripe.calls.length;
    const send = (more: Partial<typeof webhook>, at = world.clock.now()) => postWebhook({ ...webhook, ...more }, at);
    expect(await send({ secret: "whsec_guess" })).toBe(401);
    const at = Math.floor(world.clock.now() / 1000);
    const signature = createHmac("sha256", webhook.secret).update(`${at}.${webhook.body}`).digest("hex");
    const headers = { "stripe-signature": `t=${at},v1=${signature}` };
    const altered = webhook.body.replace("evt_", "evt_x");
    expect((await world.shop.callAnonymously("POST /payments/stripe/", { raw: altered, headers })).code).toBe(5206);
    expect(await world.stripe.deliver(index, world.clock.now() - 301_000)).toBe(401);
    expect(await send({ url: webhook.url.replace(world.shop.namespace, other.namespace) })).toBe(401);
    for (const signature of [null, "", "v1=", `t=1,v1=${"0".repeat(64)}`, `t=${"9".repeat(400)},v1=x`]) {
      const headers: Record<string, string> = signature === null ? {} : { "stripe-signature": signature };
      const reply = await world.shop.callAnonymously("POST /payments/stripe/", { raw: webhook.body, headers });
      expect([reply.status, reply.code]).toEqual([401, 5206]);
    }
    expect(world.stripe.calls.length).toBe(before);
    expect((await world.read(order)).payment_status).toBe("unpaid");
    expect(await world.stripe.deliver(index)).toBe(200);
    expect((await world.read(order)).payment_status).toBe("paid");
  });

  test("a call of Stripe that is signed but false changes nothing, because the payment is read at Stripe", async () => {
    const { books } = world.stripe;
    const order = await world.order();
    const page = await world.checkout(order);
    const secret = String(books.lists.webhook_endpoints[0]?.hidden?.secret);
    const object = { ...books.find("checkout/sessions", world.sessionOf(page)), status: "complete", hidden: undefined };
    const type = "checkout.session.completed";
    const body = JSON.stringify({ ...{ id: "evt_lie", object: "event", livemode: false, type }, data: { object } });
    const url = `${world.app.url}/payments/stripe/?namespace=${world.shop.namespace}`;
    expect(await world.stripe.send({ url, type, body, secret })).toBe(200);
    expect((await world.read(order)).payment_status).toBe("unpaid");
  });

  test("a call of Stripe about another payment in the account does not pay the order that this payment names", async () => {
    const { books } = world.stripe;
    const order = await world.order();
    const { id: checkout } = await world.checkout(order);
    // A payment link can have a `client_reference_id` in its address, which any visitor can write.
    const metadata = { checkout, order: order.id };
    const link = books.add("checkout/sessions", "cs_test", {
      ...{ status: "open", payment_status: "unpaid", payment_intent: null, expires_at: books.seconds() + 3600 },
      ...{ client_reference_id: checkout, metadata, amount_total: 50, currency: "eur" },
      hidden: { lines: [], intent: { metadata } },
    });
    world.stripe.pay(link.id);
    await world.stripe.settle();
    expect(world.stripe.replied.at(-1)).toEqual({ type: "checkout.session.completed", status: 200 });
    await world.runJobs();
    await world.shop.call(`POST /orders/${order.id}/checkout/check/`);
    expect(await world.read(order)).toMatchObject({ status: "pending", received_minor: 0, needs_attention: [] });
  });

  test("a call of Stripe that is repeated after it was handled reads nothing at Stripe", async () => {
    const { index } = await makeReport();
    await world.stripe.deliver(index);
    const before = world.stripe.calls.length;
    expect(await world.stripe.deliver(index)).toBe(200);
    expect(world.stripe.calls.length).toBe(before);
  });

  test("a call of Stripe with a wrong signature counts as a failed attempt of its address; a call with a valid signature never counts", async () => {
    const { webhook } = await makeReport();
    const headers = { "stripe-signature": `t=1,v1=${"0".repeat(64)}` };
    const address = "203.0.113.77";
    const call = () => world.shop.callAnonymously("POST /payments/stripe/", { raw: webhook.body, headers, address });
    const codes = [];
    for (let count = 0; count < 12; count++) codes.push((await call()).code);
    expect(codes).toEqual([...Array(10).fill(5206), 5209, 5209]);
    for (let count = 0; count < 12; count++) expect(await world.stripe.send(webhook)).toBe(200);
  });

  test("a call of Stripe about an unknown object, or of the other mode, is accepted, and reads nothing at Stripe", async () => {
    const { order, webhook } = await makeReport();
    const event = JSON.parse(webhook.body) as { id: string; data: { object: { id: string } } };
    const before = world.stripe.calls.length;
    const unknown = { ...event, id: "evt_other", data: { object: { ...event.data.object, id: "cs_of_another_shop" } } };
    expect(await world.stripe.send({ ...webhook, body: JSON.stringify(unknown) })).toBe(200);
    expect(
      await world.stripe.send({ ...webhook, body: JSON.stringify({ ...event, id: "evt_live", livemode: true }) }),
    ).toBe(200);
    expect(world.stripe.calls.length).toBe(before);
    expect((await world.read(order)).payment_status).toBe("unpaid");
  });

  test("a call of Stripe gets an error while Stripe cannot be read, so that Stripe repeats it", async () => {
    const { order, index } = await makeReport();
    for (let count = 0; count < 3; count++) world.stripe.faults.push({ match: "GET checkout", kind: "status500" });
    expect(await world.stripe.deliver(index)).toBe(503);
    expect((await world.read(order)).payment_status).toBe("unpaid");
    expect(await world.stripe.deliver(index)).toBe(200);
    expect((await world.read(order)).payment_status).toBe("paid");
  });

  test.each([
    ...["no JSON", "null", "{}", '{"id":"evt_1","type":"charge.refunded","data":{}}'],
    '{"type":"charge.refunded","data":{"object":{"id":"ch_1"}}}',
  ])(
    "a call of Stripe that is signed but malformed (%s) is refused, changes nothing, and does not count as a failed attempt",
    async (body) => {
      const { webhook } = await makeReport();
      const events = async () =>
        (await world.database.db.execute("select count(*) as n from payment_events")).rows[0]?.n;
      const before = [await events(), world.stripe.calls.length];
      for (let count = 0; count < 12; count++) expect(await world.stripe.send({ ...webhook, body })).toBe(400);
      expect([await events(), world.stripe.calls.length]).toEqual(before);
    },
  );

  test("a call of Stripe is verified before its body is parsed", async () => {
    const reply = await world.shop.callAnonymously("POST /payments/stripe/", {
      raw: "[".repeat(10_000),
      headers: { "stripe-signature": `t=1,v1=${"0".repeat(64)}` },
    });
    expect(reply.code).toBe(5206);
  });
});

describe("connecting a store", () => {
  const open = async (currency = "EUR") => {
    const shop = await createShop(world.app, { tenant: { currency } });
    return { shop, ctx: { ...(await tenantContext(shop)), payments: world.app.payments } };
  };
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) =>
        error instanceof AppError ? [error.code, error.message, error.remedy ?? ""].join(" ") : String(error),
    );

  test.each([
    ["pk_test_51standInOfStripe", "publishable"],
    ["whsec_51standInOfStripe", "signing secret"],
    ["sk_51standInOfStripe", "sk_test_… or sk_live_…"],
    ["sk_test_short!", "sk_test_… or sk_live_…"],
  ])("connecting a store refuses %s before it asks Stripe, and does not repeat it", async (key, words) => {
    const { ctx } = await open();
    const before = world.stripe.calls.length;
    const said = await refusal(connectStripe(ctx, { key }));
    expect(said).toContain("5102");
    expect(said).toContain(words);
    expect(said).not.toContain(key);
    expect(world.stripe.calls.length).toBe(before);
  });

  test.each(["KWD", "MGA", "BHD"])(
    "connecting a store refuses a store in %s, which Stripe does not charge",
    async (currency) => {
      const { ctx } = await open(currency);
      expect(await refusal(connectStripe(ctx, { key: stripeKey }))).toContain(`Stripe does not charge ${currency}`);
    },
  );

  test("connecting a store reports that Stripe does not accept the key, or which permission the key lacks", async () => {
    const { ctx } = await open();
    world.stripe.faults.push({ match: "POST webhook_endpoints", kind: "status403" });
    expect(await refusal(connectStripe(ctx, { key: stripeKey }))).toMatch(/lacks a permission.*payment connect stripe/);
    const wrong = { ...ctx, payments: { ...ctx.payments } };
    expect(await refusal(connectStripe(wrong, { key: "sk_test_no-such" }))).toContain("5102");
  });

  test("connecting a store refuses a key of the other mode until the store is disconnected", async () => {
    const { ctx } = await open();
    await connectStripe(ctx, { key: stripeKey });
    const live = "sk_live_51standInOfStripe";
    const said = await refusal(connectStripe(ctx, { key: live }));
    expect(said).toContain("test mode");
    expect(said).toContain("payment disconnect");
    await disconnectStripe(ctx);
    expect(await connectStripe(ctx, { key: live })).toMatchObject({ mode: "live" });
  });

  test("connecting a store stores the key encrypted, and shows only its end", async () => {
    const { ctx } = await open();
    await connectStripe(ctx, { key: stripeKey });
    expect(JSON.stringify(await showAccount(ctx))).not.toContain("standIn");
    const file = readFileSync(`${world.database.dataDir}/bodega.db`);
    const wal = readFileSync(`${world.database.dataDir}/bodega.db-wal`);
    for (const bytes of [file, wal]) expect(bytes.includes(stripeKey)).toBe(false);
  });

  test("connecting a store finds an endpoint that was deleted, disabled or moved at Stripe, and creates a new endpoint", async () => {
    const { shop, ctx } = await open();
    const { endpoint_id: id } = await connectStripe(ctx, { key: stripeKey });
    expect((await checkAccount(ctx)).problems).toEqual([]);
    const endpoint = world.stripe.books.find("webhook_endpoints", id);
    endpoint.status = "disabled";
    endpoint.url = "https://old.example/";
    expect((await checkAccount(ctx)).problems).toEqual([
      "The endpoint at Stripe has another address: https://old.example/",
      "The endpoint is disabled at Stripe.",
    ]);
    world.stripe.books.lists.webhook_endpoints = world.stripe.books.lists.webhook_endpoints.filter(
      (one) => one.id !== id,
    );
    expect((await checkAccount(ctx)).problems).toEqual(["The endpoint was deleted at Stripe."]);
    const again = await connectStripe(ctx, { key: stripeKey });
    expect(again.endpoint_id).not.toBe(id);
    expect((await checkAccount(ctx)).problems).toEqual([]);
    // Calls with the old signing secret are accepted for a day.
    const object = { id: "ch_of_another_shop", object: "charge", payment_intent: null };
    const send = (name: string) => {
      const event = {
        id: name,
        object: "event",
        type: "charge.refunded",
        livemode: false,
        created: 1,
        data: { object },
      };
      const url = `${world.app.url}/payments/stripe/?namespace=${shop.namespace}`;
      const signed = { url, type: event.type, body: JSON.stringify(event), secret: String(endpoint.hidden?.secret) };
      return postWebhook(signed, world.clock.now());
    };
    expect(await send("evt_old_1")).toBe(200);
    world.clock.advance(25 * 60 * minute);
    expect(await send("evt_old_2")).toBe(401);
  });

  test("doctor names differences at Stripe: the endpoint, the mode, payments, and waiting refunds", async () => {
    const { shop, ctx } = await open();
    const { endpoint_id: id } = await connectStripe(ctx, { key: stripeKey });
    const product = await shop.createProduct({ price: 9, requires_shipping: false });
    const order = await makeOrder(shop, [{ product_id: product.id }]);
    const page = await shop.call<{ url: string }>(`POST /orders/${order.id}/checkout/`, { body: returnUrls });
    world.stripe.delivery = "held";
    world.stripe.pay(world.sessionOf(page.data));
    const report = world.stripe.webhooks.findLast(({ url }) => url.includes(shop.namespace));
    if (!report) throw new Error("There is no webhook.");
    const event = { ...(JSON.parse(report.body) as object), id: "evt_live_of_another", livemode: true };
    expect(await world.stripe.send({ ...report, body: JSON.stringify(event) })).toBe(200);
    world.stripe.books.find("webhook_endpoints", id).status = "disabled";
    world.stripe.delivery = "auto";
    world.clock.advance(11 * minute);
    const command = (words: string) => `bodega ${words}`;
    const config = { stripeUrl: world.stripe.url, publicUrl: world.app.url } as Config;
    const subject = { ...{ ctx: world.app.system, tenant: ctx.tenant, now: world.clock.now }, config, command };
    const check = () => Array.fromAsync(checkPayments({ ...subject, timeoutMs: 1000 } as StoreSubject));
    const found = (await check()).map(({ severity, message, remedy }) => [severity, message, remedy]);
    expect(found).toMatchObject([
      [
        "warning",
        expect.stringContaining("The endpoint is disabled at Stripe."),
        expect.stringContaining("payment connect"),
      ],
      ["warning", expect.stringContaining("other mode"), expect.any(String)],
      ["error", expect.stringContaining("Order 1 of store"), expect.stringContaining("order pay")],
    ]);
  });

  test("payment check says that Stripe does not allow a live account to charge", async () => {
    const { ctx } = await open();
    await connectStripe(ctx, { key: stripeKey.replace("test", "live") });
    expect((await checkAccount(ctx)).problems).toEqual([]);
    world.stripe.books.profile.charges_enabled = false;
    const fault = await failureOf(checkAccount(ctx));
    world.stripe.books.profile.charges_enabled = true;
    expect(fault).toMatchObject({
      message: expect.stringContaining("does not allow acct_standin to charge"),
      remedy: expect.stringContaining("dashboard"),
    });
  });

  test("disconnecting a store closes its open payment pages and removes its endpoint at Stripe", async () => {
    const { shop, ctx } = await open();
    const { endpoint_id: id } = await connectStripe(ctx, { key: stripeKey });
    const product = await shop.createProduct({ price: 9 });
    const order = await makeOrder(shop, [{ product_id: product.id }]);
    const openPage = () => shop.call<{ url: string }>(`POST /orders/${order.id}/checkout/`, { body: returnUrls });
    const { data } = await openPage();
    await disconnectStripe(ctx);
    // The key of another account could not close the page.
    expect(world.stripe.books.find("checkout/sessions", world.sessionOf(data)).status).toBe("expired");
    expect(world.stripe.books.lists.webhook_endpoints.map((one) => one.id)).not.toContain(id as string);
    expect((await openPage()).code).toBe(5306);
    expect((await shop.call(`POST /orders/${order.id}/cancel/`)).status).toBe(200);
  });

  test("a store lists its ways to pay", async () => {
    const { shop, ctx } = await open();
    const read = async () => (await shop.call<{ payment_methods: string[] }>("GET /store/")).data.payment_methods;
    expect(await read()).toEqual(["manual"]);
    await connectStripe(ctx, { key: stripeKey });
    expect(await read()).toEqual(["manual", "stripe"]);
  });
});

describe("amounts in minor units", () => {
  const codes = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].flatMap((a) =>
    [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].flatMap((b) => [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((c) => a + b + c)),
  );
  const taken = codes.filter((code) => attempt(() => toStripe(1, code)) !== undefined);

  test("amounts in minor units of each currency that Stripe charges are unchanged after conversion to Stripe's units and back", () => {
    for (const currency of taken) {
      for (const minor of [1, 50, 1999, 123_456_789]) {
        expect(fromStripe(toStripe(minor, currency), currency.toLowerCase())).toEqual({ amountMinor: minor, currency });
      }
    }
    expect(taken.length).toBeGreaterThan(120);
  });

  test("amounts in minor units have the decimals of ISO 4217, except that Stripe uses two decimals for ISK and UGX", () => {
    const scaled = taken.filter((currency) => toStripe(1, currency) !== 1);
    expect(scaled).toEqual(["ISK", "UGX"]);
    expect([toStripe(1999, "EUR"), toStripe(500, "JPY"), toStripe(500, "ISK")]).toEqual([1999, 500, 50_000]);
    expect(taken.filter((currency) => ![0, 2].includes(decimalsOf(currency) as number))).toEqual([]);
  });
});
