import { expect } from "bun:test";
import { readOutbox } from "../../support/mail.ts";
import { unlimitedOrders } from "../../support/orders.ts";
import { openPage, placeAsGuest } from "../../support/sale.ts";
import { onDatabase } from "../../support/suite.ts";

const orderUrl = "https://shop.example/order";

onDatabase("file", (suite) => {
  const { test } = suite;
  async function open(tenant: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: { ...unlimitedOrders, orderUrl, ...tenant } });
    const { id: product } = await shop.createProduct({ title: "Lamp", price: 10, stock: 50 });
    const mails = async () =>
      (await readOutbox(suite.app, shop.namespace)).map(({ kind, to, values }) => ({ kind, to, values }));
    return { shop, product, page: await openPage(shop), mails };
  }

  test("an order is mailed once when it is placed and once when it is paid, with its goods, total and link", async () => {
    const { shop, product, page, mails } = await open();
    const sent = { note: "Free text", items: [{ product_id: product, quantity: 2 }] };
    const { id, access_token } = await placeAsGuest(page, product, sent);
    for (const reference of ["a", "a", "b"]) {
      await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 10, reference } });
    }
    await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 1, reference: "c" } });
    const to = { email: "eve@example.com", lang: "en" };
    const values = { number: "1", items: "2 × Lamp", total: "20.00 EUR", link: `${orderUrl}#${id}.${access_token}` };
    expect(await mails()).toEqual([
      { kind: "order_placed", to, values: { ...values, instructions: "", reference: "" } },
      { kind: "order_paid", to, values: { ...values, instructions: "", reference: "" } },
    ]);
    expect(JSON.stringify(await mails())).not.toContain("Free text");
  });

  test("the mail about a new order says how to transfer the money, if the buyer chose a transfer", async () => {
    const { page, product, mails } = await open({ transferInstructions: "IBAN DE02" });
    await placeAsGuest(page, product, { payment_method: "manual" });
    await placeAsGuest(page, product);
    expect((await mails()).map(({ values }) => [values?.instructions, values?.reference])).toEqual([
      ["IBAN DE02", "RF741"],
      ["", ""],
    ]);
  });

  test("no mail is sent of a dry run, of an order that failed, or without an address of the buyer", async () => {
    const { shop, page, product, mails } = await open();
    const body = { items: [{ product_id: product, quantity: 1 }], email: "eve@example.com" };
    expect((await page("POST /orders/", { body, query: { dry_run: "true" } })).status).toBe(200);
    const failed = await page("POST /orders/", { body: { ...body, expected_total: 1 } });
    expect(failed.code).toBe(5302);
    const { data } = await shop.call<{ id: string }>("POST /orders/", { body: { items: body.items } });
    await shop.call(`POST /orders/${data.id}/pay/`, { body: {} });
    expect(await mails()).toEqual([]);
  });

  test("at most three mails about new orders an hour go to one address; the orders are not refused", async () => {
    const { page, product, mails } = await open();
    for (let n = 0; n < 5; n++) await placeAsGuest(page, product);
    await placeAsGuest(page, product, { email: "bob@example.com" });
    expect((await mails()).map(({ to }) => (to as { email: string }).email)).toEqual([
      ...Array(3).fill("eve@example.com"),
      "bob@example.com",
    ]);
    suite.app.clock.advance(60 * 60_000);
    await placeAsGuest(page, product);
    expect(await mails()).toHaveLength(5);
  });
});
