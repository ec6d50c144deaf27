import { expect } from "bun:test";
import type { Static } from "@sinclair/typebox";
import { importShippingRates } from "../../../src/server/modules/shipping/csv.ts";
import type { ShippingOffer } from "../../../src/server/modules/shipping/model.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { makeOrder, type OrderReply, unlimitedOrders } from "../../support/orders.ts";
import { addressIn, openPage, setShipping } from "../../support/sale.ts";
import { type ApiScenario, runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

type Offer = Static<typeof ShippingOffer>;

const rate = { zone: "home", countries: ["DE"], name: "Parcel", price: 4.9 };
const rates = (...rows: Record<string, unknown>[]) => ({ body: { rates: rows.map((row) => ({ ...rate, ...row })) } });

const scenarios: ApiScenario[] = scenariosOf("PUT /shipping/rates/", [
  ["all rates are removed", { body: { rates: [] } }, 200],
  [
    "a rate with all bounds",
    rates({ free_from: 50, min_value: 1, max_value: 99, min_weight_g: 1, max_weight_g: 2 }),
    200,
  ],
  ["no rates", { body: {} }, 5102, "rates"],
  ...(
    [
      [{ zone: " " }, "zone"],
      [{ name: "" }, "name"],
      [{ countries: [] }, "countries"],
      [{ countries: ["Germany"] }, "countries.0"],
      [{ countries: ["XX"] }, "countries"],
      [{ price: -1 }, "price"],
      [{ price: 4.999 }, "price"],
      [{ price: "4.90" }, "price"],
      [{ free_from: 0.001 }, "free_from"],
      [{ min_value: 5, max_value: 4.99 }, "max_value"],
      [{ min_weight_g: 5, max_weight_g: 4 }, "max_weight_g"],
      [{ min_weight_g: 0.5 }, "min_weight_g"],
      [{ tax_class: "Standard" }, "tax_class"],
      [{ names: { german: "Paket" } }, "names.german"],
      [{ currency: "USD" }, "currency"],
    ] as const
  ).map(([fields, field]): ScenarioRow => [JSON.stringify(fields), rates(fields), 5102, `rates.0.${field}`]),
  ["a name that is repeated in its zone", rates({}, {}), 5102, "rates.1.name"],
  [
    "zones whose rates name other countries",
    rates({}, { name: "Express", countries: ["AT"] }),
    5102,
    "rates.1.countries",
  ],
]);

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  async function open(rows: Record<string, unknown>[], product: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const set = await setShipping(shop, rows);
    const { id } = await shop.createProduct({ price: 10, ...product });
    const page = await openPage(shop);
    const offers = async (country: string, postal_code = "", more: Record<string, number> = {}) => {
      const { data } = await page<Offer[]>("GET /shipping/rates/", { query: { country, postal_code, ...more } });
      return data.map(({ name, price }) => [name, price] as [string, number]);
    };
    const order = (quantity: number, fields: Record<string, unknown>, query = {}) =>
      page<OrderReply & { shipping_rates?: Offer[] }>("POST /orders/", {
        body: { items: [{ product_id: id, quantity }], email: "eve@example.com", ...fields },
        query,
      });
    return { shop, product: id, page, rates: set as Offer[], offers, order };
  }

  const zones = [
    { zone: "home", name: "Parcel" },
    { zone: "home", name: "Express", price: 9.9 },
    { zone: "islands", postcodes: ["259 ", "2586"], name: "Ferry", price: 12 },
    { zone: "port", countries: ["DE", "GB"], postcodes: ["25938", "sw1"], name: "Port", price: 3 },
    { zone: "near", countries: ["AT", "LU"], name: "Near", price: 12 },
    { zone: "else", countries: ["*"], name: "World", price: 30 },
  ];
  test("one shipping zone applies: the zone with the longest matching postcode, else the country's zone, else the zone for all other countries", async () => {
    const { offers } = await open(zones);
    const home = [
      ["Parcel", 4.9],
      ["Express", 9.9],
    ];
    const found: [country: string, postcode: string, offers: unknown[]][] = [
      ["DE", "10115", home],
      ["DE", "", home],
      ["DE", "25 9 99", [["Ferry", 12]]],
      ["DE", "25860", [["Ferry", 12]]],
      ["DE", "25938", [["Port", 3]]],
      ["DE", "D-25938", [["Port", 3]]],
      ["DE", "DE 25.938", [["Port", 3]]],
      ["DE", "２５９３８", [["Port", 3]]],
      ["GB", "Sw1a 1aa", [["Port", 3]]],
      ["GB", "E1 6AN", [["World", 30]]],
      ["AT", "25938", [["Near", 12]]],
      ["FR", "25938", [["World", 30]]],
    ];
    for (const [country, postcode, expected] of found) {
      expect([country, postcode, await offers(country, postcode)]).toEqual([country, postcode, expected as never]);
    }
  });

  test("value and weight limit a shipping rate, and goods of enough value after discount are shipped for 0", async () => {
    const { shop, offers, order, rates } = await open(
      [
        { name: "Letter", price: 1.5, max_weight_g: 500, max_value: 30 },
        { name: "Parcel", min_weight_g: 501, free_from: 30 },
        { name: "Gift", price: 0, min_value: 100 },
      ],
      { weight_g: 200 },
    );
    const [letter, parcel] = rates;
    for (const [value, weight_g, expected] of [
      [30, 500, [["Letter", 1.5]]],
      [30.01, 500, []],
      [29.99, 501, [["Parcel", 4.9]]],
      [30, 501, [["Parcel", 0]]],
      [
        100,
        501,
        [
          ["Parcel", 0],
          ["Gift", 0],
        ],
      ],
      [100, 0, [["Gift", 0]]],
    ] as const) {
      expect([value, weight_g, await offers("DE", "", { value, weight_g })]).toEqual([
        value,
        weight_g,
        expected as never,
      ]);
    }
    const address = { shipping_address: addressIn() };
    const placed = await order(2, { ...address, shipping_rate: letter?.id });
    expect(placed.data).toMatchObject({
      shipping_minor: 150,
      total_minor: 2150,
      shipping_rate: { id: letter?.id, name: "Letter" },
    });
    // Three items weigh 600 g. A discount code reduces their value below 30.
    for (const [fields, shipping] of [
      [{}, 0],
      [{ discount_code: "ONE" }, 490],
    ] as const) {
      if (shipping) await shop.call("POST /discounts/", { body: { code: "ONE", amount: 1 } });
      const { data } = await order(3, { ...address, ...fields, shipping_rate: parcel?.id });
      expect([data.shipping_minor, data.total_minor]).toEqual([shipping, shipping ? 3390 : 3000]);
    }
  });

  test("a shipping rate that does not apply is refused; a dry run without a rate lists the rates that apply", async () => {
    const { shop, order, rates, product } = await open([...zones, { name: "Heavy", min_weight_g: 1 }]);
    const [parcel, , ferry] = rates;
    const address = { shipping_address: addressIn() };
    const elsewhere = (await open([{ price: 0 }])).rates[0];
    for (const id of [
      ferry?.id,
      elsewhere?.id,
      rates.at(-1)?.id,
      "ship_01h455vb4pex5vsknk084sn02q",
      "",
      "Parcel",
      "\u0000",
    ]) {
      const { code, fields } = await order(1, { ...address, shipping_rate: id });
      expect([id, code, fields]).toEqual([id, 5102, ["shipping_rate"]]);
    }
    for (const [fields, name] of [
      [address, "shipping_rate"],
      [{ ...address, shipping_rate: null }, "shipping_rate"],
      [{ shipping_rate: parcel?.id }, "shipping_address"],
      [{ shipping_rate: parcel?.id, billing_address: addressIn() }, "shipping_address"],
    ] as const) {
      expect([name, (await order(1, fields)).fields]).toEqual([name, [name]]);
    }
    // An address in zone "islands" cannot use the cheaper rate of zone "home".
    const island = { shipping_address: addressIn("DE", "25999"), shipping_rate: parcel?.id };
    expect((await order(1, island)).fields).toEqual(["shipping_rate"]);
    // If postcodes divide a country into zones, a postcode that cannot be one of the country does not avoid a zone.
    for (const postcode of [undefined, "", "-", "٢٥٩٣٨", "025938", "2593", "25938X", "ABCD25938"]) {
      const hidden = { shipping_address: addressIn("DE", postcode), shipping_rate: parcel?.id };
      if (postcode === undefined) Reflect.deleteProperty(hidden.shipping_address, "postal_code");
      expect([postcode, (await order(1, hidden)).fields]).toEqual([postcode, ["shipping_address.postal_code"]]);
    }
    const { data } = await order(1, { ...address, lang: "de" }, { dry_run: "true" });
    expect(data.shipping_rates).toMatchObject([
      { name: "Parcel", price: 4.9, price_minor: 490, zone: "home" },
      { name: "Express", price: 9.9, price_minor: 990 },
    ]);
    expect((await order(1, { ...address, shipping_rate: parcel?.id }, { dry_run: "true" })).data).toMatchObject({
      number: null,
      shipping_minor: 490,
      total_minor: 1490,
    });
    expect((await order(1, {}, { dry_run: "true" })).data.shipping_rates).toEqual([]);
    expect((await order(1, { shipping_rate: parcel?.id }, { dry_run: "true" })).fields).toEqual(["shipping_address"]);
    // Goods that are not shipped need no address and no rate.
    await shop.call(`PATCH /products/${product}/`, { body: { requires_shipping: false } });
    expect((await order(1, {})).data).toMatchObject({ shipping_minor: 0, shipping_rate: null });
    expect((await order(1, { ...address, shipping_rate: parcel?.id })).fields).toEqual(["shipping_rate"]);
    // Backends may set the shipping costs.
    const own = await makeOrder(shop, [{ product_id: product }], { shipping: 7.5 });
    expect(own).toMatchObject({ shipping_minor: 750, shipping_rate: null });
  });

  test("an order to an address without a zone, or for goods without a rate, is refused; stores without rates ship for 0", async () => {
    const { shop, order, rates } = await open([{ max_value: 20 }]);
    const fields = { shipping_rate: rates[0]?.id };
    const far = await order(1, { ...fields, shipping_address: addressIn("CH", "8000") });
    expect([far.code, far.error?.message]).toEqual([5308, "The store does not deliver to this address."]);
    expect((await order(3, { ...fields, shipping_address: addressIn() })).code).toBe(5308);
    expect((await order(3, { shipping_address: addressIn() }, { dry_run: "true" })).code).toBe(5308);
    await setShipping(shop, []);
    expect((await order(3, { shipping_address: addressIn("CH", "8000") })).data).toMatchObject({
      ...{ shipping_minor: 0, shipping_rate: null, total_minor: 3000 },
    });
    expect((await order(3, {})).status).toBe(201);
  });

  test("a shipping rate keeps its id if zone and name do not change; an order keeps the rate with which it was placed", async () => {
    const { shop, rates, order } = await open([
      { names: { de: "Paket", "pt-BR": "Encomenda" } },
      { name: "Express", price: 9.9 },
    ]);
    const fields = { shipping_address: addressIn(), shipping_rate: rates[0]?.id };
    const { data: placed } = await order(1, { ...fields, lang: "de" });
    expect(placed.shipping_rate).toEqual({ id: rates[0]?.id as string, name: "Paket" });
    const next = await setShipping(shop, [
      { name: "Express", price: 1 },
      { price: 5.9 },
      { zone: "new", countries: ["AT"] },
    ]);
    expect(next.map(({ id }) => rates.findIndex((one) => one.id === id))).toEqual([1, 0, -1]);
    expect((await shop.call<OrderReply>(`GET /orders/${placed.id}/`)).data.shipping_rate).toEqual(placed.shipping_rate);
    expect((await order(1, fields)).data).toMatchObject({ shipping_minor: 590, shipping_rate: { name: "Parcel" } });
  });

  test("after concurrent replacements of the shipping rates, the store has the rates of one of them", async (shop) => {
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => setShipping(shop, [{ price: n }, { name: "Express", price: n + 100 }])),
    );
    const { data } = await shop.call<Offer[]>("GET /shipping/rates/");
    expect(data).toHaveLength(2);
    expect((data[1] as Offer).price - (data[0] as Offer).price).toBe(100);
  });

  const header =
    "zone,countries,postcodes,name,name_de,price,free_from,min_value,max_value,min_weight_g,max_weight_g,tax_class";
  const file = (...lines: string[]) => [header, ...lines].join("\n");
  const importIn = async (shop: Shop, text: string) => importShippingRates(await tenantContext(shop), text);

  test("a file of shipping rates may have commas, semicolons or tabs between cells, and decimal commas if commas do not separate cells", async (shop) => {
    const text = file("home,DE at,,Parcel,Paket,4.90,50,,,,2000,", "else,*,,World,,30,,,,,,standard");
    const read = await importIn(shop, text);
    expect(read).toMatchObject([
      {
        zone: "home",
        countries: ["DE", "AT"],
        names: { de: "Paket" },
        price: 4.9,
        free_from: 50,
        max_weight_g: 2000,
      },
      { countries: ["*"], price: 30, tax_class: "standard" },
    ]);
    for (const [separator, price] of [
      [";", "4,90"],
      [";", "4.90"],
      ["\t", "4.90"],
    ] as const) {
      const other = text.replaceAll(",", separator).replace("4.90", price);
      expect(await importIn(shop, `\ufeff${other.replaceAll("\n", "\r\n")}\r\n`)).toEqual(read);
    }
  });

  test("the error of a file of shipping rates names line, column and value, and nothing is changed", async (shop) => {
    await importIn(shop, file("home,DE,,Parcel,,4.90,,,,,,"));
    const { data: before } = await shop.call<Offer[]>("GET /shipping/rates/");
    const good = "near,AT,,Near,,9,,,,,,";
    const faults: [text: string, says: string][] = [
      [file(good, "home,DE,,Parcel,,4.999,,,,,,"), 'line 3, price: "4.999" must have at most 2 decimals'],
      [file(good, "home,DE,,Parcel,,free,,,,,,"), 'line 3, price: "free" must be'],
      [file(good, "home,DE,,Parcel,,,,,,,,"), "line 3, price: must be"],
      [file("home,DE XX,,Parcel,,1,,,,,,"), 'line 2, countries: "DE XX" must be'],
      [file("home,,,Parcel,,1,,,,,,"), "line 2, countries: must be"],
      [file("home,DE,,Parcel,,1,-5,,,,,"), 'line 2, free_from: "-5" must be'],
      [file("home,DE,,Parcel,,1,,,,1.5,,"), 'line 2, min_weight_g: "1.5" must be'],
      [file("home,DE,,Parcel,,1,,5,4,,,"), 'line 2, max_value: "4" is below min_value'],
      [file("home,DE,,Parcel,,1,,,,,,Standard!"), 'line 2, tax_class: "Standard!" must be'],
      [file(good, "", good), 'line 4, name: "Near" is repeated in its zone'],
      [file(good, "near,CH,,Other,,9,,,,,,"), 'line 3, countries: "CH" differ'],
      [file('home,DE,,"A\nB",,1,,,,,,'), "line 3, name"],
      [file("home;DE;;Parcel;;1.500;;;;;;").replaceAll(",", ";"), 'line 2, price: "1.500" must be'],
      [file("home,DE"), "line 2: "],
      [file('home,"DE,,Parcel,,1,,,,,,'), "line 2: "],
      [header.replace("price", "cost"), 'line 1: the column "price" is missing.'],
      [`${header},cost`, 'line 1: the column "cost" is unknown or repeated.'],
      [`${header},zone`, 'line 1: the column "zone" is unknown or repeated.'],
      ["", "The file is empty."],
    ];
    for (const [text, says] of faults) {
      const fault = (await failureOf(() => importIn(shop, text))) as { code: number; message: string };
      expect([text, fault.code, fault.message]).toEqual([text, 5102, expect.stringContaining(says)]);
    }
    expect((await shop.call<Offer[]>("GET /shipping/rates/")).data).toEqual(before);
  });
});
