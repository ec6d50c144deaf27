import { expect } from "bun:test";
import type { ProductReply, Shop, VariantReply } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const sizes = [
  { options: { size: "M", colour: "Red" }, sku: "T-M", stock: 3 },
  { options: { size: "L", colour: "Red" }, sku: "T-L", price: 21.5, compare_at_price: 25, stock: 4 },
];

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const shirt = (shop: Shop, variants: Record<string, unknown>[] = sizes) =>
    shop.createProduct({ title: "Shirt", price: 19.99, variants });
  const read = async ({ call }: Shop, id: string) => (await call<ProductReply>(`GET /products/${id}/`)).data;
  const path = (product: ProductReply, index = 0) =>
    `/products/${product.id}/variants/${product.variants[index]?.id ?? ""}/`;

  onFile(
    "a product can be created with variants, whose defaults are its price and a title of options",
    async (shop) => {
      const product = await shirt(shop);
      const at = new Date(suite.app.clock.now()).toISOString();
      const common = { currency: "EUR", weight_g: null, images: [], version: 1, created_at: at, updated_at: at };
      const id = expect.stringMatching(/^var_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(product.variants).toEqual([
        {
          ...common,
          id,
          title: "M / Red",
          sku: "T-M",
          options: { size: "M", colour: "Red" },
          price: 19.99,
          price_minor: 1999,
          compare_at_price: null,
          has_own_price: false,
          stock: 3,
          available: 3,
          position: 0,
        },
        {
          ...common,
          id,
          title: "L / Red",
          sku: "T-L",
          options: { size: "L", colour: "Red" },
          price: 21.5,
          price_minor: 2150,
          compare_at_price: 25,
          has_own_price: true,
          stock: 4,
          available: 4,
          position: 1,
        },
      ]);
      expect([product.version, product.stock, product.available, product.sku]).toEqual([1, 7, 7, null]);
      expect(await read(shop, product.id)).toEqual(product);
      const list = await shop.call<VariantReply[]>(`GET /products/${product.id}/variants/`);
      expect(list.data).toEqual(product.variants);
      expect(list.page).toEqual({ next_cursor: null, has_more: false, limit: 100 });
      const one = await shop.call<VariantReply>(`GET ${path(product, 1)}`);
      expect([one.data, one.headers.get("etag")]).toEqual([product.variants[1] as VariantReply, '"1"']);
    },
  );

  onFile("each write of a variant increases its product's version, and positions order the variants", async (shop) => {
    const { call } = shop;
    const product = await shirt(shop);
    suite.app.clock.advance(1000);
    const body = { title: "Sample", options: { size: "XL" } };
    const added = await call<VariantReply>(`POST /products/${product.id}/variants/`, { body });
    expect([added.status, added.headers.get("etag")]).toEqual([201, '"1"']);
    expect(added.data).toMatchObject({ title: "Sample", price: 19.99, stock: null, position: 2 });
    expect((await read(shop, product.id)).version).toBe(2);

    const patched = await call<VariantReply>(`PATCH ${path(product)}`, { body: { price: 18, position: 9 } });
    const at = new Date(suite.app.clock.now()).toISOString();
    const changed = { price: 18, price_minor: 1800, has_own_price: true, position: 9, version: 2, updated_at: at };
    expect(patched.data).toEqual({ ...(product.variants[0] as VariantReply), ...changed });
    const now = await read(shop, product.id);
    // One of the three stocks is not counted, so the sum is unknown.
    expect(now).toMatchObject({ version: 3, updated_at: at, stock: null, available: null });
    expect(now.variants.map(({ title }) => title)).toEqual(["L / Red", "Sample", "M / Red"]);

    const gone = await call(`DELETE ${path(product, 1)}`);
    expect(gone.data).toEqual({ id: product.variants[1]?.id, deleted: true });
    expect((await read(shop, product.id)).version).toBe(4);
  });

  onFile("new options change a variant's title, unless the title was given", async (shop) => {
    const product = await shirt(shop, [
      { options: { size: "M", cut: "A-line" } },
      { title: "Big", options: { size: "L" } },
    ]);
    const patch = async (index: number, body: unknown) =>
      (await shop.call<VariantReply>(`PATCH ${path(product, index)}`, { body })).data.title;
    expect(await patch(0, { options: { cut: "wide", size: "S" } })).toBe("wide / S");
    expect(await patch(0, { options: { size: "XS" }, title: "Tiny" })).toBe("Tiny");
    expect(await patch(1, { options: { size: "XL" } })).toBe("Big");
    expect(await patch(1, { stock: 1 })).toBe("Big");
  });

  onFile("after all variants are deleted, a product has its own stock again, and accepts stock and SKU", async () => {
    const shop = await suite.shop();
    const product = await shop.createProduct({ stock: 8, sku: "own" });
    const add = await shop.call<VariantReply>(`POST /products/${product.id}/variants/`, {
      body: { title: "One", stock: 2 },
    });
    expect((await read(shop, product.id)).stock).toBe(2);
    for (const [request, body, field] of [
      ["PATCH", { stock: 1 }, "stock"],
      ["PATCH", { stock: null }, "stock"],
      ["PATCH", { sku: "other" }, "sku"],
      ["PUT", { title: "A", price: 1, stock: 1 }, "stock"],
      ["PUT", { title: "A", price: 1, stock: 2, sku: "other" }, "sku"],
    ] as const) {
      const { code, fields } = await shop.call(`${request} /products/${product.id}/`, { body });
      expect([request, body, code, fields]).toEqual([request, body, 5102, [field]]);
    }
    // A write that does not contain variants does not change them.
    const put = await shop.call<ProductReply>(`PUT /products/${product.id}/`, { body: { title: "A", price: 1 } });
    expect([put.data.sku, put.data.stock, put.data.version]).toEqual([null, 2, 3]);
    await shop.call(`DELETE /products/${product.id}/variants/${add.data.id}/`);
    const now = await read(shop, product.id);
    expect([now.stock, now.available, now.sku, now.variants]).toEqual([8, 8, "own", []]);
    expect((await shop.call(`PATCH /products/${product.id}/`, { body: { stock: 1, sku: "b" } })).status).toBe(200);
  });

  onFile("a SKU is unique among the store's products and variants, until its record is deleted", async (shop) => {
    const { call } = shop;
    const shirts = await shirt(shop);
    const lamp = await shop.createProduct({ sku: "L" });
    const torch = await shop.createProduct();
    const refused: [request: string, body: unknown, field: string][] = [
      ["POST /products/", { title: "A", price: 1, sku: "T-M" }, "sku"],
      [
        "POST /products/",
        { title: "A", price: 1, variants: [{ title: "x" }, { title: "y", options: { a: "b" }, sku: "L" }] },
        "variants.1.sku",
      ],
      ["POST /products/", { title: "A", price: 1, variants: [{ title: "x", sku: "T-L" }] }, "variants.0.sku"],
      [`PATCH /products/${torch.id}/`, { sku: "T-L" }, "sku"],
      [`PUT /products/${torch.id}/`, { title: "A", price: 1, sku: "T-L" }, "sku"],
      [`POST /products/${torch.id}/variants/`, { title: "x", sku: "L" }, "sku"],
      [`POST /products/${torch.id}/variants/`, { title: "x", sku: "T-M" }, "sku"],
      [`PATCH ${path(shirts)}`, { sku: "L" }, "sku"],
      [`PATCH ${path(shirts)}`, { sku: "T-L" }, "sku"],
    ];
    for (const [request, body, field] of refused) {
      const { code, fields } = await call(request, { body });
      expect([request, code, fields]).toEqual([request, 5302, [field]]);
    }
    expect(await read(shop, shirts.id)).toEqual(shirts);
    expect((await call<ProductReply[]>("GET /products/")).data).toHaveLength(3);
    await call(`DELETE ${path(shirts)}`);
    expect((await call(`PATCH /products/${torch.id}/`, { body: { sku: "T-M" } })).status).toBe(200);
    await call(`DELETE /products/${shirts.id}/`);
    await call(`DELETE /products/${lamp.id}/`);
    expect(
      (
        await shirt(shop, [
          { title: "x", sku: "T-L" },
          { options: { a: "b" }, sku: "L" },
        ])
      ).variants,
    ).toHaveLength(2);
    // Another store may use the same SKUs.
    expect((await shirt(await suite.shop())).variants).toHaveLength(2);
  });

  onFile("two variants of a product cannot have the same options, in any order", async (shop) => {
    const product = await shirt(shop);
    const turned = { colour: "Red", size: "M" };
    for (const [request, body] of [
      [`POST /products/${product.id}/variants/`, { options: turned }],
      [`PATCH ${path(product, 1)}`, { options: turned }],
    ] as const) {
      const { code, fields } = await shop.call(request, { body });
      expect([request, code, fields]).toEqual([request, 5302, ["options"]]);
    }
    await shop.call(`DELETE ${path(product)}`);
    expect((await shop.call(`PATCH ${path(product, 1)}`, { body: { options: turned } })).status).toBe(200);
  });

  test("of twenty concurrent creates of products and variants with one SKU, only one succeeds", async (shop) => {
    const product = await shirt(shop, [{ title: "x" }]);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? shop.call("POST /products/", { body: { title: "A", price: 1, sku: "wanted" } })
          : shop.call(`POST /products/${product.id}/variants/`, { body: { options: { n: `${n}` }, sku: "wanted" } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 5302)).toHaveLength(19);
  });

  onFile("a product has at most a hundred variants, even after concurrent creates", async (shop) => {
    const variants = Array.from({ length: 97 }, (_, n) => ({ options: { size: `${n}` } }));
    const product = await shirt(shop, variants);
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        shop.call(`POST /products/${product.id}/variants/`, { body: { options: { size: `more ${n}` } } }),
      ),
    );
    expect(replies.map(({ code }) => code).toSorted()).toEqual([5306, 5306, 5306, undefined, undefined, undefined]);
    expect((await read(shop, product.id)).variants).toHaveLength(100);
  });

  onFile("a variant is found only under its own product, until one of them is deleted", async (shop) => {
    const [product, lamp] = [await shirt(shop), await shop.createProduct()];
    const id = product.variants[0]?.id ?? "";
    const check = async (at: string) => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const sent = method === "PATCH" ? { body: { title: "x" } } : {};
        expect([at, method, (await shop.call(`${method} ${at}`, sent)).code]).toEqual([at, method, 5301]);
      }
    };
    await check(`/products/${lamp.id}/variants/${id}/`);
    await check(`/products/${product.id}/variants/5/`);
    await shop.call(`DELETE ${path(product, 1)}`);
    await check(path(product, 1));
    await shop.call(`DELETE /products/${product.id}/`);
    await check(path(product));
    expect((await shop.call(`GET /products/${product.id}/variants/`)).code).toBe(5301);
    expect((await shop.call(`POST /products/${product.id}/variants/`, { body: { title: "x" } })).code).toBe(5301);
  });

  onFile("every write of a variant records an event, and an edit of its stock records stock.changed", async (shop) => {
    const product = await shirt(shop);
    const at = path(product);
    await shop.call(`PATCH ${at}`, { body: { stock: 5 } });
    await shop.call(`PATCH ${at}`, { body: { stock: 5 } });
    await shop.call(`PATCH ${at}`, { body: { price: 1 } });
    await shop.call(`PATCH ${at}`, { body: { sku: "T-L" } });
    await shop.call(`DELETE ${at}`);
    const variants = `POST /products/${product.id}/variants/`;
    const added = await shop.call<VariantReply>(variants, { body: { title: "Added", stock: 2 } });
    await shop.call(variants, { body: { title: "Not counted", options: { a: "b" } } });
    await shop.call(`DELETE /products/${product.id}/`);
    const { rows } = await suite.database.db.execute({
      sql: "select type, subject, data from events where tenant_id = (select id from tenants where namespace = ?) order by sequence",
      args: [shop.namespace],
    });
    const change = (version: number) => ["product.updated", product.id, { version, fields: ["variants"] }];
    const pieces = {
      product_id: product.id,
      variant_id: product.variants[0]?.id,
      stock: 5,
      reserved: 0,
      reason: "edit",
    };
    expect(rows.map((row) => [row.type, row.subject, JSON.parse(String(row.data))])).toEqual([
      ["product.created", product.id, { version: 1 }],
      change(2),
      ["stock.changed", product.id, pieces],
      change(3),
      change(4),
      change(5),
      // A reader of the events can add up the stock, including that of added and deleted variants.
      ["stock.changed", product.id, { ...pieces, stock: 0 }],
      change(6),
      ["stock.changed", product.id, { ...pieces, variant_id: added.data.id, stock: 2 }],
      change(7),
      ["product.deleted", product.id, { version: 8 }],
    ]);
  });

  const bad: [field: string, body: Record<string, unknown>][] = [
    ["title", {}],
    ["title", { options: {} }],
    ["sku", { title: "x", sku: "" }],
    ["options", { options: [] }],
    ["options.size", { options: { size: 5 } }],
    ["options.size", { options: { size: "x".repeat(101) } }],
    ["options. ", { options: { " ": "x" } }],
    ["options", { options: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`o${n}`, "x"])) }],
    ["compare_at_price", { title: "x", compare_at_price: 9 }],
    ["compare_at_price", { title: "x", price: null, compare_at_price: 9 }],
    ["stock", { title: "x", stock: 1_000_000_000_001 }],
    ["position", { title: "x", position: -1 }],
    ["colour", { title: "x", colour: "red" }],
  ];
  const many = Array.from({ length: 101 }, (_, n) => ({ options: { n: `${n}` } }));
  const refused: [variants: object[], own: object, code: number, field: string][] = [
    ...bad.map(([field, body]): (typeof refused)[0] => [[{ title: "good" }, body], {}, 5102, `variants.1.${field}`]),
    [
      [
        { title: "x", sku: "a" },
        { options: { a: "b" }, sku: "a" },
      ],
      {},
      5302,
      "variants.1.sku",
    ],
    [[{ options: { a: "1", b: "2" } }, { options: { b: "2", a: "1" } }], {}, 5302, "variants.1.options"],
    [many, {}, 5102, "variants"],
    [[{ title: "x" }], { stock: 1 }, 5102, "stock"],
    [[{ title: "x" }], { sku: "a" }, 5102, "sku"],
  ];
  onFile(
    "invalid, repeated and too many variants are refused by name, and so is a product's own stock",
    async ({ call }) => {
      for (const [variants, own, code, field] of refused) {
        const reply = await call("POST /products/", { body: { title: "A", price: 1, ...own, variants } });
        expect([field, own, reply.code, reply.fields]).toEqual([field, own, code, [field]]);
      }
      const none = await call<ProductReply>("POST /products/", {
        body: { title: "A", price: 1, stock: 1, variants: [] },
      });
      expect(none.data).toMatchObject({ stock: 1, variants: [] });
    },
  );
});
