import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { countOrderRows, makeOrder, type OrderReply, readEvents, stockOf } from "../../support/orders.ts";
import { type ApiScenario, runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser } from "../../support/users.ts";

const address = { name: "Eve", line1: "Rua 1", city: "Porto", postal_code: "4000-001", country: "PT" };

/** Returns the body of an order of the shop's first product, with the changes of a row. */
function bodyWith(fields: Record<string, unknown>, product: Record<string, unknown> = {}) {
  return async (shop: Shop) => {
    const { id } = await shop.createProduct(product);
    return { body: { items: [{ product_id: id, quantity: 1 }], ...fields } };
  };
}

function itemsWith(item: Record<string, unknown>) {
  return async (shop: Shop) => {
    const { id } = await shop.createProduct();
    return { body: { items: [{ product_id: id, quantity: 1, ...item }] } };
  };
}

const absent = "prod_01h455vb4pex5vsknk084sn02q";
const scenarios: ApiScenario[] = [
  ...scenariosOf("POST /orders/", [
    ["an order of one product is complete", bodyWith({}), 201],
    ["no items", { body: {} }, 5102, "items"],
    ["an empty list of items", { body: { items: [] } }, 5102, "items"],
    [
      "101 items",
      { body: { items: Array.from({ length: 101 }, () => ({ product_id: absent, quantity: 1 })) } },
      5102,
      "items",
    ],
    ...[0, -1, 1.5, 1_000_001, "2", null].map(
      (quantity): ScenarioRow => [
        `a quantity of ${JSON.stringify(quantity)}`,
        itemsWith({ quantity }),
        5102,
        "items.0.quantity",
      ],
    ),
    ["an item with neither product nor variant", { body: { items: [{ quantity: 1 }] } }, 5102, "items.0.product_id"],
    ...[absent, "prod_x", "nonsense\u0000"].map(
      (product_id): ScenarioRow => [
        `a product that does not exist: ${JSON.stringify(product_id)}`,
        { body: { items: [{ product_id, quantity: 1 }] } },
        5102,
        "items.0.product_id",
      ],
    ),
    [
      "an unknown variant",
      { body: { items: [{ variant_id: absent.replace("prod", "var"), quantity: 1 }] } },
      5102,
      "items.0.variant_id",
    ],
    ...(["draft", "archived"] as const).map(
      (status): ScenarioRow => [`a product that is ${status}`, bodyWith({}, { status }), 5102, "items.0.product_id"],
    ),
    [
      "more than the stock, with the number left",
      async (shop) => {
        const { id } = await shop.createProduct({ stock: 3 });
        return { body: { items: [{ product_id: id, quantity: 4 }] } };
      },
      5304,
      "items.0.quantity",
      { has: ["only 3 in stock"] },
    ],
    [
      "more than the stock on two lines together",
      async (shop) => {
        const other = await shop.createProduct();
        const { id } = await shop.createProduct({ stock: 3 });
        const line = { product_id: id, quantity: 2 };
        return { body: { items: [{ product_id: other.id, quantity: 1 }, line, line] } };
      },
      5304,
      "items.1.quantity",
    ],
    [
      "a line whose amount is not exact",
      async (shop) => {
        const { id } = await shop.createProduct({ price: 9_000_000_000 });
        return { body: { items: [{ product_id: id, quantity: 1_000_000 }] } };
      },
      5102,
      "items.0.quantity",
    ],
    [
      "lines whose sum is not exact",
      async (shop) => {
        const { id } = await shop.createProduct({ price: 9_000_000_000_000 });
        const line = { product_id: id, quantity: 1 };
        return { body: { items: [line, line] } };
      },
      5102,
      "items",
    ],
    ...(
      [
        [{ shipping: -1 }, "shipping"],
        [{ shipping: 1.999 }, "shipping"],
        [{ tax: "1" }, "tax"],
        [{ use_points: 1 }, "use_points"],
        [{ use_points: -1 }, "use_points"],
        [{ note: " " }, "note"],
        [{ note: "a\u0000b" }, "note"],
        [{ shipping_address: {} }, "shipping_address"],
        [{ shipping_address: { ...address, country: "pt" } }, "shipping_address.country"],
        [{ shipping_address: { ...address, line1: " " } }, "shipping_address.line1"],
        [{ customer_id: "usr_01h455vb4pex5vsknk084sn02q" }, "customer_id"],
        [{ user_id: "usr_01h455vb4pex5vsknk084sn02q" }, "user_id"],
        [{ discount: 5 }, "discount"],
        [{ total: 5 }, "total"],
      ] as const
    ).map(([fields, field]): ScenarioRow => [JSON.stringify(fields), bodyWith(fields), 5102, { has: [field] }]),
    [
      "a price or title given by the caller",
      itemsWith({ price: 0.01, title: "Cheap" }),
      5102,
      ["items.0.price", "items.0.title"],
    ],
  ]),
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  test("an order is a snapshot: later changes and deletions of its products do not affect it", async (shop) => {
    const images = [{ url: "https://example.com/s.png" }, { url: "https://example.com/t.png" }];
    const shirt = await shop.createProduct({ title: "Shirt", price: 19.9, sku: "S-1", stock: 5, images });
    const order = await makeOrder(shop, [{ product_id: shirt.id, quantity: 2 }], {
      note: "Ring twice.\nThen wait.",
      shipping: 4.5,
      tax: 1.25,
      shipping_address: address,
    });
    const { id, created_at, updated_at, expires_at, items } = order;
    expect([id, items[0]?.id]).toEqual([expect.stringMatching(/^ord_/), expect.stringMatching(/^line_/)]);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(60 * 60_000);
    expect(updated_at).toBe(created_at);
    const line = { product_id: shirt.id, variant_id: null, title: "Shirt", sku: "S-1", image: images[0]?.url };
    expect(items as object[]).toMatchObject([
      { ...line, quantity: 2, price: 19.9, price_minor: 1990, subtotal: 39.8, tax: 1.25, total: 41.05 },
    ]);
    expect(order).toMatchObject({
      ...{ number: 1, user_id: null, status: "pending", payment_status: "unpaid", fulfillment_status: "unfulfilled" },
      ...{ currency: "EUR", subtotal: 39.8, shipping: 4.5, tax: 1.25, total: 45.55, total_minor: 4555, due: 45.55 },
      ...{ prices_include_tax: false, tax_lines: [], payments: [], refunds: [], needs_attention: [], email: null },
      ...{ shipping_address: address, note: "Ring twice.\nThen wait.", lang: "en", version: 1, paid_at: null },
    });
    await shop.call(`PATCH /products/${shirt.id}/`, { body: { title: "Rag", price: 1, sku: "R" } });
    await shop.call(`DELETE /products/${shirt.id}/`);
    const read = await shop.call<OrderReply>(`GET /orders/${id}/`);
    expect(read.data).toEqual(order);
    expect(read.headers.get("etag")).toBe('"1"');
  });

  test("an order that reserves stock does not change the product's version, and is recorded as an event", async (shop) => {
    const lamp = await shop.createProduct({ stock: 5 });
    const order = await makeOrder(shop, [{ product_id: lamp.id, quantity: 2 }, { product_id: lamp.id }]);
    expect(order.items.map(({ quantity }) => quantity)).toEqual([2, 1]);
    expect(await stockOf(shop, lamp.id)).toEqual({ stock: 5, reserved: 3 });
    const { data } = await shop.call<{ stock: number; available: number; version: number }>(
      `GET /products/${lamp.id}/`,
    );
    expect([data.stock, data.available, data.version]).toEqual([5, 2, lamp.version]);
    const moved = { product_id: lamp.id, variant_id: null, stock: 5, reserved: 3, reason: "order" };
    expect(await readEvents(shop, "stock.changed")).toEqual([moved]);
    expect(await readEvents(shop, "order.created")).toEqual([
      {
        number: 1,
        status: "pending",
        payment_status: "unpaid",
        fulfillment_status: "unfulfilled",
        total: 57,
        currency: "EUR",
      },
    ]);
  });

  test("an order may exceed the stock of products with backorders, and products without counted stock have no limit", async (shop) => {
    const song = await shop.createProduct({ price: 0 });
    const chair = await shop.createProduct({ stock: 1, allow_backorder: true });
    const order = await makeOrder(shop, [
      { product_id: song.id, quantity: 1_000_000 },
      { product_id: chair.id, quantity: 3 },
    ]);
    expect(await stockOf(shop, song.id)).toEqual({ stock: null, reserved: 0 });
    expect(await stockOf(shop, chair.id)).toEqual({ stock: 1, reserved: 3 });
    await shop.call(`POST /orders/${order.id}/pay/`);
    expect(await stockOf(shop, chair.id)).toEqual({ stock: -2, reserved: 0 });
  });

  test("a product with variants can be ordered only by variant, from the variant's stock", async (shop) => {
    const shirt = (await shop.createProduct({
      title: "Shirt",
      variants: [
        { title: "M", options: { size: "M" }, price: 20, stock: 2, sku: "S-M" },
        { title: "L", options: { size: "L" }, price: 25, stock: 1 },
      ],
    })) as unknown as { id: string; variants: { id: string; version: number }[] };
    const [medium, large] = shirt.variants.map(({ id }) => id) as [string, string];
    const whole = { items: [{ product_id: shirt.id, quantity: 1 }] };
    expect((await shop.call("POST /orders/", { body: whole })).fields).toEqual(["items.0.variant_id"]);
    const other = await shop.createProduct();
    const wrong = { items: [{ product_id: other.id, variant_id: medium, quantity: 1 }] };
    expect((await shop.call("POST /orders/", { body: wrong })).code).toBe(5102);
    const order = await makeOrder(shop, [
      { variant_id: large },
      { product_id: shirt.id, variant_id: medium, quantity: 1 },
      { variant_id: medium },
    ]);
    expect(
      order.items.map((line) => [line.title, line.variant_title, line.sku, line.options, line.price_minor]),
    ).toEqual([
      ["Shirt", "L", null, { size: "L" }, 2500],
      ["Shirt", "M", "S-M", { size: "M" }, 2000],
      ["Shirt", "M", "S-M", { size: "M" }, 2000],
    ]);
    const none = await shop.call("POST /orders/", { body: { items: [{ variant_id: medium, quantity: 1 }] } });
    expect([none.code, none.fields]).toEqual([5304, ["items.0.quantity"]]);
    await shop.call(`POST /orders/${order.id}/pay/`);
    expect(await stockOf(shop, medium)).toEqual({ stock: 0, reserved: 0 });
    const { data } = await shop.call<typeof shirt>(`GET /products/${shirt.id}/`);
    expect(data.variants.map(({ version }) => version)).toEqual([2, 2]);
  });

  test("lines are in the order's language if the product has a translation, otherwise in the product's own language", async (shop) => {
    const lamp = await shop.createProduct({ title: "Lamp", translations: { pt: { title: "Candeeiro" } } });
    const chair = await shop.createProduct({ title: "Chair" });
    const items = [{ product_id: lamp.id }, { product_id: chair.id }];
    const order = await makeOrder(shop, items, { lang: "pt-BR" });
    expect([order.lang, order.items.map(({ title }) => title)]).toEqual(["pt-BR", ["Candeeiro", "Chair"]]);
    expect((await makeOrder(shop, items)).items.map(({ title }) => title)).toEqual(["Lamp", "Chair"]);
  });

  test("a dry run returns an order without a number, and writes nothing", async (shop) => {
    const lamp = await shop.createProduct({ stock: 5 });
    const before = await countOrderRows(shop);
    const send = { query: { dry_run: "true" }, body: { items: [{ product_id: lamp.id, quantity: 2 }] } };
    for (let i = 0; i < 2; i++) {
      const { status, data } = await shop.call<OrderReply>("POST /orders/", send);
      expect<unknown[]>([status, data.number, data.total, data.status]).toEqual([200, null, 38, "pending"]);
      expect((await shop.call(`GET /orders/${data.id}/`)).code).toBe(5301);
    }
    expect(await countOrderRows(shop)).toEqual(before);
    expect(await stockOf(shop, lamp.id)).toEqual({ stock: 5, reserved: 0 });
    const more = { ...send, body: { items: [{ product_id: lamp.id, quantity: 6 }] } };
    expect((await shop.call("POST /orders/", more)).code).toBe(5304);
    expect((await makeOrder(shop, [{ product_id: lamp.id }])).number).toBe(1);
  });

  test("customers order for themselves, without shipping and tax; keys and staff name the customer", async (shop) => {
    const lamp = await shop.createProduct();
    const customer = await openAccount(shop);
    const someone = await makeUser(shop);
    const items = [{ product_id: lamp.id, quantity: 1 }];
    const own = await customer.call<OrderReply>("POST /orders/", { body: { items } });
    expect([own.status, own.data.user_id]).toEqual([201, customer.id]);
    for (const [fields, code] of [
      [{ shipping: 1 }, 5300],
      [{ tax: 0 }, 5300],
      [{ customer_id: someone.id }, 5301],
    ] as const) {
      expect((await customer.call("POST /orders/", { body: { items, ...fields } })).code).toBe(code);
    }
    const staff = await openAccount(shop, { role: "staff" });
    const theirs = await staff.call<OrderReply>("POST /orders/", {
      body: { items, customer_id: someone.id, shipping: 2, tax: 1 },
    });
    expect([theirs.data.user_id, theirs.data.total_minor]).toEqual([someone.id, 2200]);
    expect((await staff.call<OrderReply>("POST /orders/", { body: { items } })).data.user_id).toBeNull();
    const byKey = await makeOrder(shop, items, { user_id: someone.id });
    expect(byKey.user_id).toBe(someone.id);
    const elsewhere = await suite.shop();
    const stranger = await makeUser(elsewhere);
    const { code, fields } = await shop.call("POST /orders/", { body: { items, customer_id: stranger.id } });
    expect([code, fields]).toEqual([5102, ["customer_id"]]);
  });
});
