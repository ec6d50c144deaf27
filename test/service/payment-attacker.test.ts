import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPayShop } from "../support/pay-shop.ts";
import { type GuestOrder, openPage, placeAsGuest } from "../support/sale.ts";

/** What a visitor can learn: the key of the page, an own order with its token, and the endpoint for events. */
let shop: Awaited<ReturnType<typeof openPayShop>>;
let order: GuestOrder;
let checkout: { id: string; url: string };
let endpoint: string;

const headersOf = ({ access_token }: GuestOrder) => ({ "x-order-token": access_token });
const ask = async (request: string, body: object | undefined = undefined) => {
  const page = await openPage(shop.shop);
  return page<{ url: string; id: string }>(request, { headers: headersOf(order), ...(body && { body }) });
};
const isUnpaid = async () => {
  const { status, payment_status, received_minor, needs_attention } = await shop.read(order);
  expect({ status, payment_status, received_minor, needs_attention }).toEqual({
    ...{ status: "pending", payment_status: "unpaid", received_minor: 0, needs_attention: [] },
  });
};

beforeAll(async () => {
  shop = await openPayShop();
  const page = await openPage(shop.shop);
  order = await placeAsGuest(page, shop.product.id, { payment_method: "stripe" });
  checkout = await shop.checkout(order);
  endpoint = String(shop.stripe.books.lists.webhook_endpoints[0]?.url);
});
afterAll(() => shop.close());

describe("with the page's source and the webhook's address, nobody can mark an order paid:", () => {
  const paidEvent = () => {
    const object = { ...shop.stripe.books.find("checkout/sessions", shop.sessionOf(checkout)) };
    Object.assign(object, { status: "complete", payment_status: "paid", hidden: undefined });
    return JSON.stringify({ id: "evt_1", object: "event", type: "checkout.session.completed", data: { object } });
  };

  test("an event that is not signed, signed with another secret, or signed long ago is refused", async () => {
    const body = paidEvent();
    for (const header of ["", "t=1,v1=00", `t=${Math.floor(shop.clock.now() / 1000)},v1=${"0".repeat(64)}`]) {
      const reply = await fetch(endpoint, { method: "POST", body, headers: { "stripe-signature": header } });
      expect([header, reply.status]).toEqual([header, 401]);
    }
    const webhook = { url: endpoint, type: "checkout.session.completed", body, secret: "whsec_guessed" };
    expect(await shop.stripe.send(webhook)).toBe(401);
    const secret = String(shop.stripe.books.lists.webhook_endpoints[0]?.hidden?.secret);
    expect(await shop.stripe.send({ ...webhook, secret }, shop.clock.now() - 301_000)).toBe(401);
    await isUnpaid();
    // Even a signed event that lies changes nothing: the payment is read at Stripe.
    expect(await shop.stripe.send({ ...webhook, secret })).toBe(200);
    await isUnpaid();
  });

  test("the key of the page and the token of the order book no payment and set no state", async () => {
    for (const [request, body] of [
      [`POST /orders/${order.id}/pay/`, {}],
      [`POST /orders/${order.id}/pay/`, { amount: 19, reference: "x" }],
      [`POST /orders/${order.id}/fulfill/`, {}],
      [`POST /orders/${order.id}/refund/`, {}],
      [`PATCH /orders/${order.id}/`, { note: "paid" }],
    ] as const) {
      expect([request, (await ask(request, body)).status]).toEqual([request, 403]);
    }
    const items = [{ product_id: shop.product.id, quantity: 1 }];
    for (const fields of [{ status: "paid" }, { payment_status: "paid" }, { received: 19 }, { total: 0 }]) {
      const { status } = await ask("POST /orders/", { items, email: "eve@example.com", ...fields });
      expect([fields, status]).toEqual([fields, 422]);
    }
    await isUnpaid();
  });

  test("asking for the payment, or opening the page to which buyers return, changes nothing", async () => {
    for (let n = 0; n < 3; n++) {
      expect((await ask(`POST /orders/${order.id}/checkout/check/`)).status).toBe(200);
      shop.clock.advance(6000);
    }
    await isUnpaid();
  });

  test("a payment page never leads to an address that is not the shop's", async () => {
    const good = "http://localhost/";
    for (const bad of [
      "https://evil.example/",
      "javascript:alert(1)",
      "http://localhost.evil.example/",
      "//evil.example",
    ]) {
      for (const body of [
        { success_url: bad, cancel_url: good },
        { success_url: good, cancel_url: bad },
      ]) {
        expect([body, (await ask(`POST /orders/${order.id}/checkout/`, body)).status]).toEqual([body, 422]);
      }
    }
  });

  test("a small payment elsewhere in the account that names the order is not taken for its payment", async () => {
    const { books } = shop.stripe;
    const state = {
      status: "open",
      payment_status: "unpaid",
      payment_intent: null,
      expires_at: books.seconds() + 3600,
    };
    // As a payment link with `client_reference_id` in its address, which any visitor can write.
    const names = { client_reference_id: checkout.id, metadata: { checkout: checkout.id, order: order.id } };
    const hidden = { lines: [], intent: { metadata: names.metadata } };
    const link = books.add("checkout/sessions", "cs_test", {
      ...state,
      ...names,
      amount_total: 50,
      currency: "eur",
      hidden,
    });
    shop.stripe.pay(link.id);
    await shop.stripe.settle();
    expect(shop.stripe.replied.at(-1)).toEqual({ type: "checkout.session.completed", status: 200 });
    await shop.runJobs();
    await ask(`POST /orders/${order.id}/checkout/check/`);
    await isUnpaid();
  });

  test("and with the card, the order is paid", async () => {
    shop.stripe.pay(shop.sessionOf(checkout));
    await shop.stripe.settle();
    expect(await shop.read(order)).toMatchObject({ status: "paid", payment_status: "paid" });
  });
});
