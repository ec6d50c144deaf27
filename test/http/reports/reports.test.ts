import { expect } from "bun:test";
import { type ReportName, type ReportRow, readReport } from "../../../src/server/modules/reports/service.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, unlimitedOrders } from "../../support/orders.ts";
import { addressIn, setTaxes } from "../../support/sale.ts";
import { runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";

const hourMs = 3_600_000;
const whole = { since: "2000", until: "2004" };

/** Opens a store in Berlin with two tax rates in Germany and one in Austria, and products of both classes. */
async function open(suite: Suite) {
  const tenant = { ...unlimitedOrders, country: "DE", timezone: "Europe/Berlin" };
  const shop = await suite.shop({ tenant });
  await setTaxes(shop, [
    ["standard", "DE", 19],
    ["reduced", "DE", 7],
    ["standard", "AT", 20],
  ]);
  const { id: mug } = await shop.createProduct({ title: "Mug", sku: "MUG", price: 11.9 });
  const { id: book } = await shop.createProduct({ title: "Book", price: 10.7, tax_class: "reduced" });
  const items = [
    { product_id: mug, quantity: 3 },
    { product_id: book, quantity: 1 },
  ];
  const sell = async (country: string, fields: object = {}) => {
    const order = await makeOrder(shop, items, { shipping_address: addressIn(country), ...fields });
    return actOn(shop, order, "pay", { body: { reference: order.id } });
  };
  const ctx = await tenantContext(shop);
  const report = (name: ReportName, query: object = {}) => readReport(ctx, name, query);
  return { shop, sell, report, ctx };
}

const refund = (shop: Shop, order: OrderReply, body: object) => actOn(shop, order, "refund", { body });
const sum = (rows: ReportRow[], field: string) => rows.reduce((total, row) => total + Number(row[field]), 0);

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, [
    ...scenariosOf("GET /reports/sales/", [
      ["a store without sales has an empty report", undefined, 200, { has: ['"data":[]'] }],
      ["an unknown period is refused with 5102", { query: { by: "year" } }, 5102, "by"],
      ["a beginning that is not a time is refused with 5102", { query: { since: "2026-13" } }, 5102, "since"],
      ["an end before the beginning is refused with 5102", { query: { since: "1d", until: "2d" } }, 5102, "since"],
      ["more than five years are refused with 5102", { query: { since: "1980", until: "1990" } }, 5102, "since"],
    ]),
  ]);

  test("a report has sold and returned amounts in separate columns, and all sums equal those of the orders", async () => {
    const { shop, sell, report } = await open(suite);
    const [german, austrian] = [await sell("DE"), await sell("AT")];
    await sell("DE", { email: "eve@example.com" });
    await refund(shop, german, { lines: [{ line_id: german.items[0]?.id, quantity: 1 }] });
    await refund(shop, german, { amount: 3.33 });
    await refund(shop, austrian, {});
    // An unpaid order and surplus money are not sales, but the money was received and returned.
    const items = german.items.map(({ product_id, quantity }) => ({ product_id, quantity }));
    await actOn(shop, await makeOrder(shop, items), "pay", { body: { amount: 1, reference: "part" } });
    const rows = await report("sales");
    const stored = await shop.app.db.execute({
      sql: `select sum(iif(paid_at is null, 0, total_minor)) as sold, sum(credited_minor) as returned,
        sum(received_minor) as received, sum(refunded_minor) as refunded, sum(iif(paid_at is null, 0, tax_minor)) as tax
        from orders where tenant_id = ?`,
      args: [(await tenantContext(shop)).tenant.id],
    });
    expect(rows).toHaveLength(1);
    const { sold, returned, received, refunded, tax } = stored.rows[0] as Record<string, unknown>;
    expect(rows[0]).toMatchObject({
      ...{ orders: 3, pieces: 12, returned_pieces: 5, currency: "EUR" },
      ...{ sold_minor: sold, returned_minor: returned, received_minor: received, refunded_minor: refunded },
      ...{ sold: Number(sold) / 100, sold_tax_minor: tax },
    } as ReportRow);
    const taxes = await report("tax", { by: "month" });
    expect(sum(taxes, "sold_net_minor") + sum(taxes, "sold_tax_minor")).toBe(Number(sold));
    expect(sum(taxes, "returned_net_minor") + sum(taxes, "returned_tax_minor")).toBe(Number(returned));
    expect(sum(taxes, "returned_tax_minor")).toBe(Number(rows[0]?.returned_tax_minor));
    // The complete Austrian order was returned, so the returned tax equals the sold tax.
    expect(taxes.map((row) => [row.country, row.tax_class, row.tax_rate, row.sold_tax, row.returned_tax])).toEqual([
      ["AT", "reduced", 0, 0, 0],
      ["AT", "standard", 20, 5.95, 5.95],
      ["DE", "reduced", 7, 1.4, expect.any(Number)],
      ["DE", "standard", 19, 11.4, expect.any(Number)],
    ]);
    expect(await report("products")).toMatchObject([
      { title: "Mug", sku: "MUG", sold_pieces: 9, sold: 107.1, returned_pieces: 4, returned: 47.6 },
      { title: "Book", sku: null, sold_pieces: 3, sold: 32.1, returned_pieces: 1, returned: 10.7 },
    ]);
    const customers = await report("customers");
    expect(sum(customers, "sold_minor")).toBe(Number(sold));
    expect(sum(customers, "returned_minor")).toBe(Number(returned));
    expect(customers.at(-1)).toMatchObject({ customer: "eve@example.com", orders: 1, returned: 0 });
  });

  test("reports group by days, weeks and months of the store's time zone, and count a refund on the day it is made", async () => {
    const { shop, sell, report } = await open(suite);
    const { clock } = shop.app;
    const before = clock.now();
    // In Berlin, this is 2030-01-01 00:30, a Tuesday.
    clock.advance(Date.parse("2029-12-31T23:30:00Z") - before);
    const order = await sell("DE");
    clock.advance(-hourMs);
    await sell("DE");
    clock.advance(33 * 24 * hourMs);
    await refund(shop, order, {});
    const periods = async (by: string) =>
      (await report("sales", { since: "2029-12", by })).map((row) => [row.period, row.orders, row.returned_pieces]);
    expect(await periods("day")).toEqual([
      ["2029-12-31", 1, 0],
      ["2030-01-01", 1, 0],
      ["2030-02-02", 0, 4],
    ]);
    expect(await periods("week")).toEqual([
      ["2029-12-31", 2, 0],
      ["2030-01-28", 0, 4],
    ]);
    expect(await periods("month")).toEqual([
      ["2029-12", 1, 0],
      ["2030-01", 1, 0],
      ["2030-02", 0, 4],
    ]);
    const january = await report("sales", { since: "2030-01", until: "2030-02", by: "month" });
    expect(january).toMatchObject([{ period: "2030-01", orders: 1, returned: 0 }]);
    expect(await report("sales", whole)).toEqual([]);
    clock.advance(before - clock.now());
  });
});
