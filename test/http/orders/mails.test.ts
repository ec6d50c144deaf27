import { expect } from "bun:test";
import { findRecipient } from "../../../src/server/modules/mail/compose.ts";
import { previewMails } from "../../../src/server/modules/mail/preview.ts";
import { listTemplates, resetTemplate, setTemplate } from "../../../src/server/modules/mail/templates.ts";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { previewOrderMail, resendOrderMail } from "../../../src/server/modules/orders/mails/order-mail.ts";
import { inviteUser } from "../../../src/server/modules/password-reset/service.ts";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { openAccount } from "../../support/account.ts";
import { tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { type OutboxMail, readOutbox } from "../../support/mail.ts";
import { unlimitedOrders } from "../../support/orders.ts";
import { openPage, placeAsGuest } from "../../support/sale.ts";
import { onDatabase } from "../../support/suite.ts";

const orderUrl = "https://shop.example/order";

onDatabase("file", (suite) => {
  const { test } = suite;
  async function open(tenant: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: { ...unlimitedOrders, orderUrl, ...tenant } });
    const { id: product } = await shop.createProduct({ title: "Lamp", price: 10, stock: 50 });
    const outbox = () => readOutbox(suite.app, shop.namespace);
    const mails = async () => (await outbox()).map(({ kind, to, values }) => ({ kind, to, values }));
    const mailOf = async (kind: string) => (await outbox()).findLast((mail) => mail.kind === kind) as OutboxMail;
    const kinds = async () => (await outbox()).map(({ kind }) => kind);
    return { shop, product, page: await openPage(shop), outbox, mails, mailOf, kinds };
  }

  test("the buyer gets one mail when an order is placed and one when it is paid, with goods, amounts and link", async () => {
    const { shop, product, page, outbox } = await open();
    const sent = { note: "Free text", items: [{ product_id: product, quantity: 2 }] };
    const { id, access_token } = await placeAsGuest(page, product, sent);
    for (const reference of ["a", "a", "b"]) {
      await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 10, reference } });
    }
    await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 1, reference: "c" } });
    const link = `${orderUrl}#${id}.${access_token}`;
    const mail = {
      ...{ to: { email: "eve@example.com", lang: "en" }, thread: id },
      values: { number: "1", items: "2 × Lamp", link, instructions: "", reference: "" },
    };
    const order = {
      ...{ currency: "EUR", digits: 2, amounts: { total: 2000 }, taxNote: null },
      lines: [{ quantity: 2, title: "Lamp", price: 1000, total: 2000 }],
    };
    const sums = [
      { label: "subtotal", amount: 2000 },
      { label: "total", amount: 2000 },
    ];
    expect(await outbox()).toMatchObject([
      { kind: "order_placed", ...mail, order: { ...order, sums: [...sums, { label: "due", amount: 2000 }] } },
      { kind: "order_paid", ...mail, order: { ...order, sums: [...sums, { label: "paid", amount: 2000 }] } },
    ]);
    expect(JSON.stringify(await outbox())).not.toContain("Free text");
  });

  test("if the buyer chose a bank transfer, the mail about the new order says how to pay", async () => {
    const { page, product, mails } = await open({ transferInstructions: "IBAN DE02" });
    await placeAsGuest(page, product, { payment_method: "manual" });
    await placeAsGuest(page, product);
    expect((await mails()).map(({ values }) => [values?.instructions, values?.reference])).toEqual([
      ["IBAN DE02", "RF741"],
      ["", ""],
    ]);
  });

  test("no mail is sent for a dry run, for a failed order, or without an address of the buyer", async () => {
    const { shop, page, product, mails } = await open();
    const body = { items: [{ product_id: product, quantity: 1 }], email: "eve@example.com" };
    expect((await page("POST /orders/", { body, query: { dry_run: "true" } })).status).toBe(200);
    const failed = await page("POST /orders/", { body: { ...body, expected_total: 1 } });
    expect(failed.code).toBe(5302);
    const { data } = await shop.call<{ id: string }>("POST /orders/", { body: { items: body.items } });
    await shop.call(`POST /orders/${data.id}/pay/`, { body: {} });
    expect(await mails()).toEqual([]);
  });

  test("one address gets at most three mails about new orders an hour; further orders are accepted without a mail", async () => {
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

  test("each parcel has a mail with its items, its tracking and the remaining items; a change of tracking is not mailed", async () => {
    const { shop, product, page, outbox, mailOf } = await open();
    const { id } = await placeAsGuest(page, product, { items: [{ product_id: product, quantity: 3 }] });
    await shop.call(`POST /orders/${id}/pay/`, { body: {} });
    const { data: order } = await shop.call<{ items: { id: string }[] }>(`GET /orders/${id}/`);
    const lines = [{ line_id: order.items[0]?.id, quantity: 1 }];
    const tracking = { carrier: "DHL", number: "JD01" };
    const parcels = `/orders/${id}/fulfillments/`;
    const sent = await shop.call<{ fulfillments: { id: string }[] }>(`POST ${parcels}`, { body: { lines, tracking } });
    const url = "https://www.dhl.com/global-en/home/tracking.html?tracking-id=JD01";
    expect(await mailOf("order_shipped")).toMatchObject({
      values: { carrier: "DHL", tracking_number: "JD01", tracking_url: url, rest: "2 × Lamp" },
      order: { lines: [{ quantity: 1, title: "Lamp" }], sums: [] },
    });
    await shop.call(`PATCH ${parcels}${sent.data.fulfillments[0]?.id}/`, { body: { tracking: { number: "JD02" } } });
    await shop.call(`POST ${parcels}`, { body: {} });
    const shipped = (await outbox()).filter(({ kind }) => kind === "order_shipped");
    expect(shipped.map(({ values }) => [values?.tracking_number, values?.rest])).toEqual([
      ["JD01", "2 × Lamp"],
      ["", ""],
    ]);
  });

  test("each refund of money has a mail with its lines; for a refund of a free order, the mail says that the order was cancelled", async () => {
    const { shop, product, page, outbox, kinds } = await open();
    const { id } = await placeAsGuest(page, product, { items: [{ product_id: product, quantity: 3 }] });
    await shop.call(`POST /orders/${id}/pay/`, { body: {} });
    const { data: order } = await shop.call<{ items: { id: string }[] }>(`GET /orders/${id}/`);
    const lines = [{ line_id: order.items[0]?.id, quantity: 1 }];
    for (const body of [{ lines, reason: "For staff" }, { amount: 5 }]) {
      await shop.call(`POST /orders/${id}/refund/`, { body });
    }
    const refunded = (await outbox()).filter(({ kind }) => kind === "order_refunded");
    expect(refunded.map((mail) => mail.order)).toMatchObject([
      {
        amounts: { refund_paid: 1000, refund_pending: 0 },
        lines: [{ quantity: 1, total: 1000, title: "Lamp" }],
        sums: [{ label: "refunded", amount: 1000 }],
      },
      { amounts: { refund_paid: 500 }, lines: [], sums: [{ label: "refunded", amount: 500 }] },
    ]);
    expect(JSON.stringify(refunded)).not.toContain("For staff");
    const { id: gift } = await shop.createProduct({ title: "Gift", price: 0, stock: 5 });
    const free = await placeAsGuest(page, gift, { email: "bob@example.com" });
    await shop.call(`POST /orders/${free.id}/refund/`, { body: {} });
    expect((await kinds()).slice(-3)).toEqual(["order_placed", "order_paid", "order_cancelled"]);
  });

  test("the cancellation or expiry of an order causes exactly one mail", async () => {
    const { shop, product, page, kinds } = await open();
    const { id } = await placeAsGuest(page, product);
    await shop.call(`POST /orders/${id}/cancel/`);
    await placeAsGuest(page, product);
    suite.app.clock.advance(61 * 60_000);
    while ((await expireDueOrders(suite.app.system)) > 0);
    expect(await kinds()).toEqual(["order_placed", "order_cancelled", "order_placed", "order_expired"]);
  });

  test("mail about new orders and about orders that need attention goes to the store's addresses, or to the owners if the store has none", async () => {
    const { shop, product, page, outbox, mailOf } = await open();
    const staff = async () =>
      (await outbox()).filter(({ kind }) => ["new_order", "needs_attention"].includes(kind)).map(shown);
    const shown = ({ kind, to, values }: OutboxMail) => [kind, (to as { email: string }).email, values?.reason];
    await openAccount(shop, { role: "owner", email: "owner@shop.example" });
    // The address of an invitation may be mistyped, so it gets no data of buyers before the invitation is accepted.
    await inviteUser(await tenantContext(shop), { email: "new@shop.example", role: "owner" });
    await placeAsGuest(page, product, { email: "bob@example.com" });
    expect(await staff()).toEqual([["new_order", "owner@shop.example", undefined]]);
    const notify = JSON.stringify(["one@shop.example", "two@shop.example"]);
    await updateTenant(suite.app.system, shop.namespace, { notify });
    const { id } = await placeAsGuest(page, product, { note: "Ring twice" });
    await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 99 } });
    await shop.call(`POST /orders/${id}/pay/`, { body: { amount: 1 } });
    expect((await staff()).slice(1)).toEqual([
      ["new_order", "one@shop.example", undefined],
      ["new_order", "two@shop.example", undefined],
      ["needs_attention", "one@shop.example", "overpaid"],
      ["needs_attention", "two@shop.example", "overpaid"],
    ]);
    expect((await mailOf("new_order")).values?.customer).toBe("eve@example.com\nRing twice");
  });

  test("a store can replace the texts of a mail; only known placeholders are accepted, and everything is escaped", async () => {
    const { shop, product, page } = await open();
    const ctx = await tenantContext(shop);
    const { id } = await placeAsGuest(page, product);
    const name = { kind: "order_placed", language: "en" } as const;
    const paragraphs = ["<b>Thanks</b> for {order.number}", "{order.instructions}", "{order.items}"];
    const body = { ...name, subject: "Hooray {order.number}", heading: "Hi & welcome", paragraphs };
    const [colleague, owner] = [await openAccount(shop, { role: "staff" }), await openAccount(shop, { role: "owner" })];
    expect((await colleague.call("PUT /mail/templates/", { body })).code).toBe(5300);
    expect((await owner.call("PUT /mail/templates/", { body })).data).toMatchObject({ ...body, is_own: true });
    const shown = () => previewOrderMail(ctx, id, "order_placed");
    const { subject, html, text, to } = await shown();
    expect([to, subject]).toEqual(["eve@example.com", "Hooray 1"]);
    expect(text).toStartWith("Hi & welcome\n\nHello,\n\n<b>Thanks</b> for 1\n\n1 × Lamp: €10.00\n");
    expect(html).toContain("&#60;b&#62;Thanks&#60;/b&#62; for <bdi>1</bdi>");
    expect((await previewOrderMail(ctx, id, "order_placed", "de")).subject).toBe("Ihre Bestellung 1");
    const refused: [Parameters<typeof setTemplate>[1], Parameters<typeof setTemplate>[2], string][] = [
      [name, { paragraphs: ["{order.customer}"] }, "paragraphs"],
      [name, { subject: "{code}" }, "subject"],
      [name, { subject: "" }, "subject"],
      [{ kind: "order_placed", language: "it" }, { subject: "Ciao" }, "language"],
      [{ kind: "reset_code" }, { paragraphs: ["Your code: {code}"] }, "paragraphs"],
      [{ kind: "order_link" }, { paragraphs: ["Hello"] }, "paragraphs"],
    ];
    for (const [of, text, field] of refused) {
      expect(await failureOf(setTemplate(ctx, of, text))).toMatchObject({
        kind: "validationFailed",
        details: [{ field }],
      });
    }
    expect(await listTemplates(ctx, "en")).toContainEqual(
      expect.objectContaining({ ...name, is_own: true, subject: "Hooray {order.number}", heading: "Hi & welcome" }),
    );
    await resetTemplate(ctx, name);
    expect((await shown()).subject).toBe("Your order 1");
  });

  test("a mail about an order can be sent again only if the event that it reports has happened", async () => {
    const { shop, product, page, kinds } = await open();
    const ctx = await tenantContext(shop);
    const { id } = await placeAsGuest(page, product);
    for (const kind of ["order_paid", "order_shipped", "order_refunded", "order_cancelled", "order_expired"] as const) {
      expect(await failureOf(resendOrderMail(ctx, id, kind))).toMatchObject({ kind: "wrongState" });
    }
    await resendOrderMail(ctx, id, "order_placed");
    await shop.call(`POST /orders/${id}/pay/`, { body: {} });
    await resendOrderMail(ctx, id, "order_paid");
    expect(await kinds()).toEqual(["order_placed", "order_placed", "order_paid", "order_paid"]);
  });

  test("a kind of mail that the store has switched off is not sent, and no preview shows it", async () => {
    const { shop, product, page } = await open();
    await updateTenant(suite.app.system, shop.namespace, { mailsOff: JSON.stringify(["order_placed"]) });
    const { id } = await placeAsGuest(page, product);
    await shop.call(`POST /orders/${id}/pay/`, { body: {} });
    const ctx = await tenantContext(shop);
    expect((await previewMails(ctx, "")).map(({ kind }) => kind)).toEqual(["order_paid"]);
    const found = await findRecipient(suite.app.db, ctx.tenant.id, "order_placed", { email: "eve@example.com" });
    expect(found?.to).toBeNull();
  });

  test("low stock causes one mail, and another one only after the item was restocked", async () => {
    const notify = JSON.stringify(["one@shop.example"]);
    const { shop, page, outbox } = await open({ lowStockAt: 5, notify });
    const { id } = await shop.createProduct({ title: "Mug", price: 10, stock: 7 });
    const low = async () =>
      (await outbox()).filter(({ kind }) => kind === "low_stock").map(({ values }) => values?.items);
    const order = (quantity: number) => placeAsGuest(page, id, { items: [{ product_id: id, quantity }] });
    await order(1);
    expect(await low()).toEqual([]);
    const last = await order(1);
    await order(1);
    expect(await low()).toEqual(["Mug: 5"]);
    // A cancelled order does not count as restocking.
    await shop.call(`POST /orders/${last.id}/cancel/`);
    await order(1);
    await shop.call(`PATCH /products/${id}/`, { body: { stock: 8 } });
    await order(1);
    expect(await low()).toEqual(["Mug: 5"]);
    await shop.call(`PATCH /products/${id}/`, { body: { stock: 20 } });
    await order(12);
    expect(await low()).toEqual(["Mug: 5", "Mug: 4"]);
  });
});
