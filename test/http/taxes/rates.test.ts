import { expect } from "bun:test";
import { importTaxRates } from "../../../src/server/modules/taxes/csv.ts";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { makeOrder, type OrderReply, unlimitedOrders } from "../../support/orders.ts";
import { addressIn, openPage, setShipping, setTaxes } from "../../support/sale.ts";
import { type ApiScenario, runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const rate = { class: "standard", country: "DE", rate: 19 };
const rates = (...rows: Record<string, unknown>[]) => ({ body: { rates: rows.map((row) => ({ ...rate, ...row })) } });

const scenarios: ApiScenario[] = scenariosOf("PUT /taxes/rates/", [
  ["all rates are removed", { body: { rates: [] } }, 200],
  [
    "rates of up to three decimals",
    rates({ rate: 5.125 }, { class: "zero", rate: 0 }, { class: "all", rate: 100 }),
    200,
  ],
  ...(
    [
      [{ rate: -1 }, "rate"],
      [{ rate: 100.001 }, "rate"],
      [{ rate: 5.1234 }, "rate"],
      [{ rate: "19" }, "rate"],
      [{ country: "de" }, "country"],
      [{ country: "XX" }, "country"],
      [{ country: "*" }, "country"],
      [{ class: "Standard" }, "class"],
      [{ class: "" }, "class"],
      [{ region: "BY" }, "region"],
    ] as const
  ).map(([fields, field]): ScenarioRow => [JSON.stringify(fields), rates(fields), 5102, `rates.0.${field}`]),
  ["a class that is repeated in its country", rates({}, { rate: 7 }), 5102, "rates.1"],
]);

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  /** Creates a mug at 19 % and a book at 7 % in Germany, 20 % and 10 % in Austria. */
  async function open(pricesIncludeTax: "yes" | "no", tenant: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: { ...unlimitedOrders, country: "DE", pricesIncludeTax, ...tenant } });
    await setTaxes(shop, [
      ["standard", "DE", 19],
      ["reduced", "DE", 7],
      ["standard", "AT", 20],
      ["reduced", "AT", 10],
    ]);
    const [parcel, letter] = await setShipping(shop, [
      { countries: ["DE", "AT", "CH"] },
      { countries: ["DE", "AT", "CH"], name: "Letter", price: 2, tax_class: "reduced" },
    ]);
    const mug = await shop.createProduct({ price: 11.9 });
    const book = await shop.createProduct({ price: 10.7, tax_class: "reduced" });
    const page = await openPage(shop);
    const items = [
      { product_id: mug.id, quantity: 2 },
      { product_id: book.id, quantity: 1 },
    ];
    const place = async (country: string, fields: Record<string, unknown> = {}) => {
      const body = { items, email: "eve@example.com", shipping_rate: parcel?.id, ...fields };
      const address = { shipping_address: addressIn(country, "1010") };
      const { status, data, text } = await page<OrderReply>("POST /orders/", { body: { ...address, ...body } });
      if (status !== 201) throw new Error(text);
      return data;
    };
    return { shop, items, page, place, letter: letter?.id, mug };
  }
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

  test("prices that include tax contain it, with one rounding for each tax class; shipping is taxed like the goods", async () => {
    const { place, letter } = await open("yes");
    const order = await place("DE");
    // The share of the mugs in the shipping is 4.90 × 23.80 ÷ 34.50 = 3.38. 27.18 contains 4.34 at 19 %; 10.70 and 1.52
    // contain 0.80 at 7 %.
    expect(order).toMatchObject({ subtotal: 34.5, shipping_minor: 490, total: 39.4, tax_minor: 514 });
    expect(order.tax_lines).toMatchObject([
      { class: "standard", rate: 19, base_minor: 2284, tax_minor: 434 },
      { class: "reduced", rate: 7, base_minor: 1142, tax_minor: 80 },
    ]);
    expect(order.items.map(({ tax_minor, total_minor }) => [tax_minor, total_minor])).toEqual([
      [380, 2380],
      [70, 1070],
    ]);
    expect(order.shipping_tax_minor).toBe(64);
    // The gross price is the same in every country. The tax in it differs, and is 0 in a country without a rate.
    const [austria, swiss] = [await place("AT"), await place("CH")];
    expect([austria.total_minor, swiss.total_minor]).toEqual([order.total_minor, order.total_minor]);
    expect(austria.tax_lines.map(({ rate, tax_minor }) => [rate, tax_minor])).toEqual([
      [20, 453],
      [10, 111],
    ]);
    expect([swiss.tax_minor, swiss.tax_lines.map((line) => [line.rate, line.tax_minor])]).toEqual([
      0,
      [
        [0, 0],
        [0, 0],
      ],
    ]);
    // This shipping rate has its own tax class.
    const own = await place("DE", { shipping_rate: letter });
    expect(own.tax_lines.map(({ base_minor, tax_minor }) => [base_minor, tax_minor])).toEqual([
      [2000, 380],
      [1187, 83],
    ]);
    expect(own.shipping_tax_minor).toBe(13);
  });

  test("tax is added to prices that exclude it, for lines and shipping", async () => {
    const { place } = await open("no");
    const order = await place("DE");
    // 27.18 × 19 % is 5.1642, and 12.22 × 7 % is 0.8554.
    expect(order).toMatchObject({ subtotal: 34.5, tax_minor: 602, total_minor: 3450 + 490 + 602 });
    const { items, shipping_minor, shipping_tax_minor, total_minor, tax_lines } = order;
    expect(tax_lines.map(({ tax_minor }) => tax_minor)).toEqual([516, 86]);
    expect(sum(items.map((line) => line.total_minor)) + shipping_minor + shipping_tax_minor).toBe(total_minor);
    expect(sum(items.map((line) => line.tax_minor)) + shipping_tax_minor).toBe(602);
  });

  test("without an address, the tax rates of the store's country apply; without any rate, the tax is 0", async () => {
    const { shop, mug } = await open("yes");
    await setShipping(shop, []);
    const items = [{ product_id: mug.id }];
    expect(await makeOrder(shop, items)).toMatchObject({ total_minor: 1190, tax_minor: 190 });
    expect(await makeOrder(shop, items, { shipping_address: addressIn("AT") })).toMatchObject({ tax_minor: 198 });
    await setTaxes(shop, []);
    expect(await makeOrder(shop, items)).toMatchObject({ total_minor: 1190, tax_minor: 0, tax_lines: [] });
  });

  test("tax that a backend sends is added without tax lines; shipping that a backend sends replaces the shipping rates, but not the taxes", async () => {
    const { shop, items } = await open("yes");
    const taxed = await makeOrder(shop, items, { tax: 1.25, shipping: 3 });
    expect(taxed as object).toMatchObject({
      ...{
        prices_include_tax: false,
        tax_lines: [],
        tax_minor: 125,
        shipping_tax_minor: 0,
        total_minor: 3450 + 300 + 125,
      },
    });
    const shipped = await makeOrder(shop, items, { shipping: 4.9 });
    expect(shipped as object).toMatchObject({ prices_include_tax: true, tax_minor: 514, total_minor: 3940 });
    const { code, fields } = await shop.call("POST /orders/", { body: { items, tax: 1 } });
    expect([code, fields]).toEqual([5102, ["shipping_address"]]);
  });

  test("a change of the store, of rates or of products affects only later orders", async () => {
    const { shop, place, mug, items } = await open("yes");
    const before = await place("DE");
    await updateTenant(shop.app.system, shop.namespace, { pricesIncludeTax: "no" });
    await setTaxes(shop, [["standard", "DE", 16]]);
    await shop.call(`PATCH /products/${mug.id}/`, { body: { tax_class: "zero", price: 99 } });
    const read = await shop.call<OrderReply>(`GET /orders/${before.id}/`);
    const { staff_note: _note, needs_attention: _attention, ...same } = read.data;
    expect(same).toEqual({
      ...same,
      total_minor: before.total_minor,
      tax_lines: before.tax_lines,
      items: before.items,
    });
    const after = await makeOrder(shop, items, { shipping: 0 });
    expect(after as object).toMatchObject({ prices_include_tax: false, tax_minor: 0 });
  });

  const importIn = async (shop: Shop, text: string) => importTaxRates(await tenantContext(shop), text);
  test("a file of tax rates is imported; the error of a wrong file names line, column and value, and nothing is changed", async (shop) => {
    const read = await importIn(shop, "class,country,region,rate\nstandard,de,,19\nreduced,DE,,5.125\n");
    expect(read).toEqual([
      { class: "reduced", country: "DE", rate: 5.125 },
      { class: "standard", country: "DE", rate: 19 },
    ]);
    expect(await importIn(shop, "rate;country;class\r\n19,0;DE;standard\r\n5,125;DE;reduced")).toEqual(read);
    const faults: [text: string, says: string][] = [
      ["standard,DE,,nineteen", 'line 2, rate: "nineteen" must be a percentage'],
      ["standard,DE,,101", 'line 2, rate: "101" must be'],
      ["standard,DE,,1.2345", 'line 2, rate: "1.2345" must be'],
      ["standard,DE,,", "line 2, rate: must be"],
      ["standard,Germany,,19", 'line 2, country: "Germany" must be'],
      ["Big Class,DE,,19", 'line 2, class: "Big Class" must be'],
      ["standard,DE,Bavaria,19", 'line 2, region: "Bavaria" must be empty'],
      ["standard,DE,,19\nstandard,DE,,7", "line 3: repeats the class standard in DE"],
      ["standard,DE,19", "line 2: "],
    ];
    for (const [text, says] of faults) {
      const fault = (await failureOf(() => importIn(shop, `class,country,region,rate\n${text}\n`))) as Record<
        string,
        unknown
      >;
      expect([text, fault.code, fault.message]).toEqual([text, 5102, expect.stringContaining(says)]);
    }
    expect((await shop.call("GET /taxes/rates/")).data).toEqual({ rates: read });
  });
});
