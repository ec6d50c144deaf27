import { expect } from "bun:test";
import type { Static } from "@sinclair/typebox";
import { issueInvoices } from "../../../src/server/modules/invoices/issue.ts";
import type { Invoice } from "../../../src/server/modules/invoices/model.ts";
import { accountingCsv, readAccounting } from "../../../src/server/modules/orders/export/accounting.ts";
import { purgePersons } from "../../../src/server/modules/orders/guests/persons.ts";
import { eraseGuest } from "../../../src/server/modules/personal-data/service.ts";
import { openAccount } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, unlimitedOrders } from "../../support/orders.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { addressIn, openPage, placeAsGuest, setShipping, setTaxes } from "../../support/sale.ts";
import { onDatabase, onEachDatabase, type Suite } from "../../support/suite.ts";

type InvoiceReply = Static<typeof Invoice>;

const invoiceFrom = "Kiln & Co. <Pottery>\nGasse 1\n10115 Berlin\nUSt-IdNr. DE123";
const buyer = { ...addressIn(), name: "Eve <script>alert(1)</script>", company: "Eve GmbH", vat_id: "ATU1" };

async function open(suite: Suite, tenant: Record<string, unknown> = {}) {
  const shop = await suite.shop({ tenant: { ...unlimitedOrders, country: "DE", invoiceFrom, ...tenant } });
  await setTaxes(shop, [
    ["standard", "DE", 19],
    ["reduced", "DE", 7],
  ]);
  const [rate] = await setShipping(shop, [{ price: 4.9 }]);
  const { id: mug } = await shop.createProduct({ title: "Becher & Krug", price: 11.9, stock: 900 });
  const { id: book } = await shop.createProduct({ title: "Buch", price: 10.7, tax_class: "reduced" });
  const items = [
    { product_id: mug, quantity: 2 },
    { product_id: book, quantity: 1 },
  ];
  const order = (fields: object = {}) =>
    makeOrder(shop, items, { shipping_address: buyer, shipping_rate: rate?.id, lang: "de", ...fields });
  const paid = async (fields: object = {}, send: object = {}) => actOn(shop, await order(fields), "pay", send);
  const invoice = (of: { id: string }, call = shop.call, headers = {}) =>
    call<InvoiceReply[]>(`POST /orders/${of.id}/invoice/`, { headers });
  return { shop, mug, rate: rate?.id, order, paid, invoice, ctx: await tenantContext(shop) };
}

const refund = (shop: Shop, order: OrderReply, body: object) => actOn(shop, order, "refund", { body });

/** The text of a page, without its tags. */
const textOf = (html: string | null | undefined) =>
  (html ?? "")
    .replace(/<style>.*<\/style>/s, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/[\s\u00a0\u202f]+/g, " ");

async function accounting(ctx: Parameters<typeof readAccounting>[0], range = {}) {
  return (await Array.fromAsync(readAccounting(ctx, range))).flat();
}

onDatabase("file", (suite) => {
  const { test } = suite;

  test("an invoice shows seller, buyer, lines, shipping, taxes and payment in the order's language, with escaped texts", async () => {
    const { paid, invoice } = await open(suite);
    const order = await paid({ billing_address: buyer }, { body: { reference: "a" } });
    const { data } = await invoice(order);
    expect(data).toMatchObject([{ number: 1, kind: "invoice", order_id: order.id, total_minor: 3940 }]);
    const html = data[0]?.html as string;
    const text = textOf(html);
    for (const part of [
      ...["Rechnung Nr. 1", "Kiln &amp; Co. &lt;Pottery&gt;", "USt-IdNr. DE123", "Eve GmbH", "USt-IdNr. ATU1"],
      ...["Becher &amp; Krug", "USt. 19 %", "11,90 € 23,80 €", "Buch", "USt. 7 %", "Versand 4,90 €"],
      ...["Gesamtbetrag 39,40 €", "10115 Somewhere Deutschland", "Bezahlt am"],
    ]) {
      expect(text).toContain(part);
    }
    for (const { rate, base_minor: base, tax_minor: tax } of order.tax_lines) {
      const amounts = [base, tax, base + tax].map((minor) => `${(minor / 100).toFixed(2).replace(".", ",")} €`);
      expect(text).toContain(`${rate} % ${amounts.join(" ")}`);
    }
    expect(html).not.toContain("<script");
    const english = await invoice(await paid({ lang: "en-GB" }));
    expect(textOf(english.data[0]?.html)).toContain("Invoice no. 2");
  });

  test("the Content-Security-Policy of an invoice allows its style by hash, but no scripts and no loading", async () => {
    const { paid, invoice } = await open(suite);
    const html = (await invoice(await paid())).data[0]?.html as string;
    const [, policy = ""] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html) ?? [];
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
    expect(html).not.toMatch(/ style=|<link|<img|https?:/);
  });

  test("no invoice is issued for an unpaid order, or in a store without a seller; an issued invoice never changes", async () => {
    const { shop, order, paid, invoice, ctx } = await open(suite, { title: "Old" });
    expect((await invoice(await order())).code).toBe(5306);
    const other = await open(suite, { invoiceFrom: null });
    const refused = await other.invoice(await other.paid());
    expect([refused.code, refused.error?.message]).toEqual([5306, expect.stringContaining("writes no invoices")]);
    const sold = await paid();
    const first = await invoice(sold);
    await shop.app.db.execute({ sql: "update tenants set invoice_from = 'New' where id = ?", args: [ctx.tenant.id] });
    await shop.call(`PATCH /orders/${sold.id}/`, { body: { billing_address: { ...buyer, name: "Other" } } });
    expect((await invoice(sold)).data).toEqual(first.data);
  });

  test("buyers get their own invoices: a customer with the user's token, a guest with the order's token", async () => {
    const { shop, mug, rate, invoice } = await open(suite);
    const page = await openPage(shop);
    const fields = { shipping_address: buyer, shipping_rate: rate };
    const { access_token, ...guest } = await placeAsGuest(page, mug, fields);
    await actOn(shop, guest, "pay");
    expect((await invoice(guest, page, { "x-order-token": access_token })).data).toHaveLength(1);
    const ada = await openAccount(shop);
    const body = { items: [{ product_id: mug, quantity: 1 }], ...fields };
    const { data: own } = await ada.call<OrderReply>("POST /orders/", { body });
    await actOn(shop, own, "pay");
    expect((await invoice(own, ada.call)).data).toHaveLength(1);
  });

  test("each refund, even of the same millisecond, gets a credit note in the same series; the credit notes together return the tax of the invoice", async () => {
    const { shop, paid, invoice, ctx } = await open(suite);
    const order = await paid();
    const [mugs, book] = order.items as [OrderReply["items"][number], OrderReply["items"][number]];
    const [issued] = (await invoice(order)).data;
    await refund(shop, order, { lines: [{ line_id: mugs.id, quantity: 1 }], amount: 1.01 });
    const { data: afterOne } = await invoice(order);
    expect(afterOne.map(({ number, kind, total_minor }) => [number, kind, total_minor])).toEqual([
      [1, "invoice", 3940],
      [2, "credit_note", 1291],
    ]);
    expect(afterOne[0]).toEqual(issued as never);
    const text = textOf(afterOne[1]?.html);
    for (const part of [
      "Rechnungskorrektur Nr. 2",
      "Zu Rechnung Nr. 1,",
      "Becher &amp; Krug",
      "11,90 €",
      "Preisnachlass 1,01 €",
    ]) {
      expect(text).toContain(part);
    }
    await refund(shop, order, { lines: [{ line_id: book.id, quantity: 1 }] });
    await refund(shop, order, {});
    expect((await invoice(order)).data.map(({ total_minor }) => total_minor)).toEqual([3940, 1291, 1070, 1579]);
    const rows = await accounting(ctx);
    const sum = (rate: number, field: "tax" | "gross") =>
      rows.reduce((total, row) => total + (row.tax_rate === rate ? Math.round(Number(row[field]) * 100) : 0), 0);
    for (const rate of [19, 7]) expect([rate, sum(rate, "gross"), sum(rate, "tax")]).toEqual([rate, 0, 0]);
    expect(rows.map(({ document, invoice_number }) => `${document} ${invoice_number}`)).toEqual([
      ...["order 1", "order 1", "refund 2", "refund 2", "refund 3", "refund 4", "refund 4"],
    ]);
  });

  test("an invoice shows prices without tax, a tax that a backend sent, and the tax note of a store", async () => {
    const net = await open(suite, { pricesIncludeTax: "no" });
    const [whole] = (await net.invoice(await net.paid())).data;
    expect(textOf(whole?.html)).toMatch(/11,90 € 23,80 €.* Versand 4,90 € USt\. [\d,]+ € Gesamtbetrag/);
    const given = await net.paid({ tax: 3.21 });
    expect(textOf((await net.invoice(given)).data[0]?.html)).toContain("USt. 3,21 €");
    const small = await suite.shop({
      tenant: { ...unlimitedOrders, invoiceFrom, taxNote: "Kein Ausweis (§ 19 UStG)" },
    });
    const { id } = await small.createProduct({ price: 5 });
    const order = await actOn(small, await makeOrder(small, [{ product_id: id }]), "pay");
    const { data } = await small.call<InvoiceReply[]>(`POST /orders/${order.id}/invoice/`);
    expect(textOf(data[0]?.html)).toContain("Kein Ausweis (§ 19 UStG)");
    expect(textOf(data[0]?.html)).not.toContain("VAT");
  });

  test("the export for accounting has a row for each tax rate, adds up to the orders, and contains no formula", async () => {
    const { shop, paid, order, ctx } = await open(suite, { timezone: "Pacific/Auckland" });
    shop.app.clock.advance(Date.parse("2030-06-30T13:00:00Z") - shop.app.clock.now());
    const first = await paid({}, { body: { reference: "=HYPERLINK(1)" } });
    await order();
    shop.app.clock.advance(86_400_000);
    await refund(shop, first, { amount: 10 });
    const free = await makeOrder(shop, [{ product_id: first.items[0]?.product_id as string }], { shipping: 0, tax: 0 });
    await actOn(shop, free, "pay");
    const rows = await accounting(ctx);
    expect(rows.map(({ document, date, tax_rate, gross }) => [document, date, tax_rate, gross])).toEqual([
      ["order", "2030-07-01", 19, "27.18"],
      ["order", "2030-07-01", 7, "12.22"],
      ["refund", "2030-07-02", 19, "-6.90"],
      ["refund", "2030-07-02", 7, "-3.10"],
      ["order", "2030-07-02", null, "11.90"],
    ]);
    const csv = accountingCsv(rows);
    expect(csv).toContain("'=HYPERLINK(1)");
    expect(csv).toContain(",-6.90,");
    expect(accountingCsv(rows, ";")).toContain(";-6,90;");
    const { rows: sums } = await shop.app.db.execute({
      sql: "select sum(total_minor - credited_minor) as due from orders where tenant_id = ? and paid_at is not null",
      args: [ctx.tenant.id],
    });
    const cents = rows.map(({ gross }) => Math.round(Number(gross) * 100));
    expect(cents.reduce((sum, one) => sum + one, 0)).toBe(Number(sums[0]?.due));
    for (const { net, tax, gross } of rows) expect(Number(net) + Number(tax)).toBeCloseTo(Number(gross), 6);
    const since = "2030-07-01T12:00:00.000Z";
    expect((await accounting(ctx, { since })).map(({ document }) => document)).toEqual(["refund", "refund", "order"]);
    expect((await accounting(ctx, { until: since })).map(({ document }) => document)).toEqual(["order", "order"]);
  });

  test("an erasure does not delete an invoice before the years have passed for which the store keeps invoices", async () => {
    const { shop, mug, rate, invoice, ctx } = await open(suite, { keepInvoices: 2 });
    const guest = await placeAsGuest(await openPage(shop), mug, {
      email: "kept@example.com",
      ...{ shipping_address: buyer, shipping_rate: rate },
    });
    await actOn(shop, guest, "pay");
    await actOn(shop, guest, "fulfill");
    const year = 365 * 86_400_000;
    shop.app.clock.advance(year);
    const [issued] = (await invoice(guest)).data;
    await eraseGuest(ctx, "kept@example.com");
    const purge = () => purgePersons({ db: shop.app.db, now: shop.app.clock.now });
    const page = async () => (await issueInvoices(ctx, guest.id))[0]?.html ?? null;
    shop.app.clock.advance(2 * year);
    await purge();
    expect(await page()).toBe(issued?.html as string);
    shop.app.clock.advance(year + 2 * 86_400_000);
    await purge();
    expect(await page()).toBeNull();
    expect((await shop.call<OrderReply>(`GET /orders/${guest.id}/`)).data.shipping_address).toBeNull();
  });

  test("doctor names missing numbers of invoices", async () => {
    const { shop, paid, ctx } = await open(suite);
    for (let count = 0; count < 3; count++) await issueInvoices(ctx, (await paid()).id);
    const { id } = ctx.tenant;
    await shop.app.db.execute({ sql: "update invoices set number = 9 where number = 2 and tenant_id = ?", args: [id] });
    const { inconsistencies } = await findInconsistencies(suite.app.system, { namespace: shop.namespace });
    expect(inconsistencies.map(({ check, subject, field, is, should }) => [check, subject, field, is, should])).toEqual(
      [
        ["numbers", "2", "invoice", "missing", "present"],
        ["numbers", "4-8", "invoice", "missing", "present"],
      ],
    );
  });
});

onEachDatabase((suite) => {
  suite.test("two processes that issue invoices at once leave no gap and use no number twice", async () => {
    const { shop, paid, ctx } = await open(suite);
    const other = { ...ctx, db: await suite.database.openAgain() };
    const orders: OrderReply[] = [];
    for (let count = 0; count < 5; count++) orders.push(await paid());
    const all = await Promise.all(
      orders.flatMap(({ id }) => [issueInvoices(ctx, id), issueInvoices(other, id), issueInvoices(other, id)]),
    );
    const numbers = [...new Set(all.flat().map(({ number }) => number))].toSorted((a, b) => a - b);
    expect(numbers).toEqual(orders.map((_, index) => index + 1));
    const { rows } = await shop.app.db.execute({
      sql: "select count(*) as count from invoices where tenant_id = ?",
      args: [ctx.tenant.id],
    });
    expect(Number(rows[0]?.count)).toBe(5);
  });
});
