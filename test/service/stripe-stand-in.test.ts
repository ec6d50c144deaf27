import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Stripe as Library } from "stripe";
import { openStripeStandIn } from "../../src/cli/commands/demo/stripe-stand-in/stand-in.ts";
import { createClock } from "../support/clock.ts";
import { failureOf } from "../support/failure.ts";
import { type Stripe, startStripe } from "../support/stripe.ts";

let clock: ReturnType<typeof createClock>;
let stripe: Stripe;
let library: Library;
const minute = 60_000;

const connect = () => {
  const { hostname: host, port } = new URL(stripe.url);
  const retries = { maxNetworkRetries: 0, timeout: 2000, httpClient: Library.createFetchHttpClient() };
  return new Library("sk_test_standin1", { host, port, protocol: "http", telemetry: false, ...retries });
};

beforeEach(async () => {
  clock = createClock();
  stripe = await startStripe({ now: clock.now });
  library = connect();
});
afterEach(() => stripe.stop());

/** The request of a shop for an order of 24 EUR. */
const order = (more: Partial<Library.Checkout.SessionCreateParams> = {}): Library.Checkout.SessionCreateParams => ({
  mode: "payment",
  payment_method_types: ["card"],
  adaptive_pricing: { enabled: false },
  client_reference_id: "chk_1",
  metadata: { checkout: "chk_1" },
  payment_intent_data: { metadata: { checkout: "chk_1" }, description: "Order 17" },
  customer_email: "ada@example.com",
  locale: "de",
  expires_at: Math.floor(clock.now() / 1000) + 31 * 60,
  success_url: "https://shop.example/#/paid",
  cancel_url: "https://shop.example/#/left",
  line_items: [
    { quantity: 2, price_data: { currency: "eur", unit_amount: 950, product_data: { name: "Mug" } } },
    { quantity: 1, price_data: { currency: "eur", unit_amount: 500, product_data: { name: "Shipping" } } },
  ],
  ...more,
});
const sell = async () => {
  const { id } = await library.checkout.sessions.create(order());
  stripe.pay(id);
  const { payment_intent } = await library.checkout.sessions.retrieve(id);
  return { id, intent: String(payment_intent) };
};
const act = (page: string, name: string) =>
  fetch(page, { method: "POST", body: new URLSearchParams({ act: name }), redirect: "manual" });

describe("the simulated Stripe, called by Stripe's library,", () => {
  test("the simulated Stripe, called by Stripe's library, opens a page for a session, on which a visitor is declined and then pays", async () => {
    const { id, url, status, amount_total } = await library.checkout.sessions.create(order());
    expect({ status, amount_total }).toEqual({ status: "open", amount_total: 2400 });
    const page = await (await fetch(String(url))).text();
    for (const text of ["keine Karte wird belastet", "24,00", "2 × Mug", "ada@example.com"])
      expect(page).toContain(text);
    const declined = await act(String(url), "decline");
    expect(await declined.text()).toContain("Die Karte wurde abgelehnt");
    expect((await act(String(url), "leave")).headers.get("location")).toBe("https://shop.example/#/left");
    expect((await act(String(url), "pay")).headers.get("location")).toBe("https://shop.example/#/paid");
    expect((await act(String(url), "pay")).headers.get("location")).toBe("https://shop.example/#/paid");
    const expand = ["payment_intent.latest_charge"];
    const paid = await library.checkout.sessions.retrieve(id, { expand });
    expect(paid).toMatchObject({
      ...{ status: "complete", payment_status: "paid", client_reference_id: "chk_1", url: null },
      payment_intent: {
        ...{ status: "succeeded", amount_received: 2400, metadata: { checkout: "chk_1" } },
        latest_charge: { amount: 2400, amount_refunded: 0, disputed: false },
      },
    });
    expect(JSON.stringify(paid)).not.toContain("hidden");
    expect(stripe.books.lists.charges.length).toBe(1);
  });

  test("the simulated Stripe, called by Stripe's library, ends a session after its time or on request, and then accepts no payment", async () => {
    const first = await library.checkout.sessions.create(order());
    clock.advance(31 * minute);
    expect(await library.checkout.sessions.retrieve(first.id)).toMatchObject({ status: "expired", url: null });
    expect(() => stripe.pay(first.id)).toThrow();
    expect(await (await act(`${stripe.url}/c/pay/${first.id}`, "pay")).text()).toContain("ist abgelaufen");
    const second = await library.checkout.sessions.create(order());
    expect(await library.checkout.sessions.expire(second.id)).toMatchObject({ status: "expired" });
    expect(await failureOf(library.checkout.sessions.expire(second.id))).toMatchObject({ statusCode: 400 });
  });

  test("the simulated Stripe, called by Stripe's library, repeats its reply to an Idempotency-Key for 24 hours, and refuses the key with other parameters", async () => {
    const send = (more = {}) => library.checkout.sessions.create(order(more), { idempotencyKey: "chk_1" });
    const expires_at = Math.floor(clock.now() / 1000) + 24 * 3600;
    const { id } = await send({ expires_at });
    clock.advance((24 * 60 - 20) * minute);
    expect((await send({ expires_at })).id).toBe(id);
    expect(await failureOf(send())).toMatchObject({ type: "StripeIdempotencyError" });
    clock.advance(21 * minute);
    expect((await send()).id).not.toBe(id);
  });

  const line = (currency: string, unit_amount: number) => ({
    line_items: [{ quantity: 1, price_data: { currency, unit_amount, product_data: { name: "A" } } }],
  });
  test.each([
    ["an amount below the minimum", line("gbp", 29), "amount_too_small"],
    ["a currency that Stripe does not accept", line("ghs", 2900), undefined],
    ["half an Icelandic króna", line("isk", 9950), "parameter_invalid_integer"],
    ["no lines", { line_items: [] }, undefined],
    ["less than 30 minutes", { expires_at: 1 }, undefined],
    ["an address without a scheme", { success_url: "shop.example" }, "url_invalid"],
    ["a mail address without a domain", { customer_email: "ada" }, "email_invalid"],
    ["a parameter that does not exist", { colour: "red" }, "parameter_unknown"],
    ["a parameter of later versions", { allowed_payment_method_types: ["card"] }, "parameter_unknown"],
  ])("the simulated Stripe, called by Stripe's library, refuses %s", async (_, more, code) => {
    expect(await failureOf(library.checkout.sessions.create(order(more as object)))).toMatchObject({
      type: "StripeInvalidRequestError",
      statusCode: 400,
      code,
    });
    expect(stripe.books.lists["checkout/sessions"]).toEqual([]);
  });

  test.each(["line_items=5", "line_items[0][quantity]=1&line_items[0][price_data][unit_amount]=30", ""])(
    "the payment page of the demo refuses a session for less than 50 cents: %s",
    (text) => {
      const { answer, books } = openStripeStandIn({ now: clock.now, page: () => stripe.url });
      const request = { call: "POST checkout/sessions", text, authorization: "Bearer sk_test_standin1", key: null };
      expect(answer(request)).toMatchObject({ status: 400, body: expect.stringContaining("amount_too_small") });
      expect(books.lists["checkout/sessions"]).toEqual([]);
    },
  );

  test("the simulated Stripe, called by Stripe's library, refunds at most the remaining amount, and lists refunds and disputes of a payment, newest first", async () => {
    const { id, intent } = await sell();
    const other = await sell();
    const refund = (amount?: number) =>
      library.refunds.create({ payment_intent: intent, metadata: { refund: "ref_1" }, ...(amount && { amount }) });
    const first = await refund(1000);
    expect(await failureOf(refund(1401))).toMatchObject({ statusCode: 400 });
    stripe.books.refundsBecome = "pending";
    const second = await refund();
    expect(await failureOf(refund())).toMatchObject({ code: "charge_already_refunded" });
    const { data } = await library.refunds.list({ payment_intent: intent });
    expect(data.map(({ id, status }) => [id, status])).toEqual([
      [second.id, "pending"],
      [first.id, "succeeded"],
    ]);
    stripe.finishRefund(second.id, "failed");
    const expand = ["payment_intent.latest_charge"];
    const paid = await library.checkout.sessions.retrieve(id, { expand });
    expect(paid.payment_intent).toMatchObject({ latest_charge: { amount_refunded: 1000, refunded: false } });
    const dispute = stripe.dispute(other.intent);
    const disputes = await library.disputes.list({ payment_intent: other.intent });
    expect(disputes.data.map(({ id, status }) => [id, status])).toEqual([[dispute.id, "needs_response"]]);
    expect((await library.disputes.list({ payment_intent: intent })).data).toEqual([]);
  });
});
