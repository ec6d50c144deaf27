import { expect } from "bun:test";
import type { ProductReply } from "../../support/factories.ts";
import { actOn, makeOrder, readEvents, stockOf } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

const full = {
  title: "Lamp",
  slug: "the-lamp",
  description: "Shines.",
  status: "archived",
  price: 19.99,
  compare_at_price: 24.99,
  sku: "L-1",
  stock: 5,
  allow_backorder: true,
  images: [{ url: "https://a.b/c", alt: "" }],
  tags: ["home"],
  metadata: { a: 1 },
};
const variants = [
  { options: { size: "M" }, sku: "T-M", stock: 3 },
  { options: { size: "L" }, sku: "T-L", stock: 3 },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  test("PUT resets omitted fields to their defaults, except the slug", async ({ call, createProduct }) => {
    const before = await createProduct(full);
    suite.app.clock.advance(1000);
    const { status, data, headers } = await call<ProductReply>(`PUT /products/${before.id}/`, {
      body: { title: "Torch", price: 5 },
    });
    expect(status).toBe(200);
    const at = new Date(suite.app.clock.now()).toISOString();
    expect(data).toEqual({
      ...before,
      title: "Torch",
      price: 5,
      price_minor: 500,
      compare_at_price: null,
      description: null,
      status: "published",
      sku: null,
      stock: null,
      available: null,
      allow_backorder: false,
      images: [],
      tags: [],
      metadata: {},
      version: 2,
      updated_at: at,
      published_at: at,
    });
    expect(headers.get("etag")).toBe('"2"');
    expect((await call(`GET /products/${before.id}/`)).data).toEqual(data as never);
  });

  test("PATCH changes only the given field", async ({ call, createProduct }) => {
    const changes: Record<string, unknown> = {
      title: "Torch",
      slug: "torch",
      description: null,
      status: "draft",
      compare_at_price: 30,
      sku: null,
      allow_backorder: false,
      images: [],
      tags: ["b", "a"],
      metadata: { a: 2 },
    };
    for (const [field, value] of Object.entries(changes)) {
      const before = await createProduct({ ...full, slug: `lamp-${field}`, sku: field });
      suite.app.clock.advance(1000);
      const { data } = await call<ProductReply>(`PATCH /products/${before.id}/`, { body: { [field]: value } });
      const at = new Date(suite.app.clock.now()).toISOString();
      expect(data).toEqual({ ...before, [field]: value, version: 2, updated_at: at });
    }
  });

  test("PATCH merges metadata: null removes, objects merge, arrays replace", async ({ call, createProduct }) => {
    const { id } = await createProduct({ metadata: { keep: 1, drop: 2, nested: { a: 1, b: 2 }, list: [1, 2] } });
    const { data } = await call<ProductReply>(`PATCH /products/${id}/`, {
      body: { metadata: { drop: null, nested: { b: null, c: 3 }, list: [3], fresh: "é" } },
    });
    expect(data.metadata).toEqual({ keep: 1, nested: { a: 1, c: 3 }, list: [3], fresh: "é" });
  });

  test("a merge that makes metadata too large is refused, and the product is unchanged", async () => {
    const { call, createProduct } = await suite.shop();
    const { id } = await createProduct({ metadata: { a: "x".repeat(9000) } });
    const { code, fields } = await call(`PATCH /products/${id}/`, { body: { metadata: { b: "x".repeat(9000) } } });
    expect([code, fields]).toEqual([5102, ["metadata"]]);
    expect((await call<ProductReply>(`GET /products/${id}/`)).data.version).toBe(1);
  });

  test("published_at stays when a product is unpublished and published again", async ({ call, createProduct }) => {
    const { id } = await createProduct({ status: "draft" });
    const publishedAt: (string | null)[] = [];
    for (const status of ["published", "archived", "published"]) {
      suite.app.clock.advance(1000);
      const { data } = await call<ProductReply>(`PATCH /products/${id}/`, { body: { status } });
      publishedAt.push(data.published_at);
    }
    const first = new Date(suite.app.clock.now() - 2000).toISOString();
    expect(publishedAt).toEqual([first, first, first]);
  });

  test("an order of a deleted product can be cancelled, paid and refunded, which changes its stock as before", async (shop) => {
    const { call, createProduct } = shop;
    const shirt = await createProduct({ title: "Shirt", price: 20, variants });
    const lamp = await createProduct({ stock: 5 });
    const ids = [shirt.variants[0]?.id ?? "", lamp.id] as const;
    const buy = () => makeOrder(shop, [{ variant_id: ids[0] }, { product_id: lamp.id, quantity: 2 }]);
    const [cancelled, paid] = [await buy(), await buy()];
    await call(`DELETE /products/${shirt.id}/`);
    await call(`DELETE /products/${lamp.id}/`);
    const stocks = async () => [await stockOf(shop, ids[0]), await stockOf(shop, ids[1])];
    expect(await stocks()).toEqual([
      { stock: 3, reserved: 2 },
      { stock: 5, reserved: 4 },
    ]);
    await actOn(shop, cancelled, "cancel");
    expect(await stocks()).toEqual([
      { stock: 3, reserved: 1 },
      { stock: 5, reserved: 2 },
    ]);
    await actOn(shop, paid, "pay", { body: {} });
    expect(await stocks()).toEqual([
      { stock: 2, reserved: 0 },
      { stock: 3, reserved: 0 },
    ]);
    await actOn(shop, paid, "refund", { body: { restock: true } });
    expect(await stocks()).toEqual([
      { stock: 3, reserved: 0 },
      { stock: 5, reserved: 0 },
    ]);
    for (const { id } of [shirt, lamp]) expect((await call(`GET /products/${id}/`)).code).toBe(5301);
  });

  test("the stock of a product with unpaid orders can be edited, and `available` changes with it", async (shop) => {
    const lamp = await shop.createProduct({ stock: 5 });
    const order = await makeOrder(shop, [{ product_id: lamp.id, quantity: 4 }]);
    const edit = async (stock: number | null) =>
      (await shop.call<Record<string, unknown>>(`PATCH /products/${lamp.id}/`, { body: { stock } })).data.available;
    expect([await edit(3), await edit(10), await edit(null), await edit(4)]).toEqual([-1, 6, null, 0]);
    await actOn(shop, order, "cancel");
    expect(await stockOf(shop, lamp.id)).toEqual({ stock: 4, reserved: 0 });
    const edits = (await readEvents(shop, "stock.changed")).filter(({ reason }) => reason === "edit");
    const common = { product_id: lamp.id, variant_id: null, reserved: 4, reason: "edit" };
    expect(edits).toEqual([3, 10, null, 4].map((stock) => ({ ...common, stock })));
  });

  test("each write of a product records one event, without the actor", async (shop) => {
    const { call } = shop;
    const { id } = await shop.createProduct({ stock: 1 });
    await call(`PATCH /products/${id}/`, { body: { title: "Torch", tags: ["a"] } });
    await call(`PATCH /products/${id}/`, { body: { stock: 1 } });
    await call(`PATCH /products/${id}/`, { body: { slug: "A b" } });
    await call(`PATCH /products/${id}/`, { body: { price: 2 }, headers: { "if-match": '"1"' } });
    await call(`PUT /products/${id}/`, { body: { title: "A", price: 1, stock: 1 } });
    await call(`DELETE /products/${id}/`);
    await call(`DELETE /products/${id}/`);
    expect(await readEvents(shop, "product.created")).toEqual([{ version: 1 }]);
    expect(await readEvents(shop, "product.updated")).toEqual([
      { version: 2, fields: ["title", "tags"] },
      { version: 3, fields: ["stock"] },
      { version: 4 },
    ]);
    expect(await readEvents(shop, "product.deleted")).toEqual([{ version: 5 }]);
    expect(await readEvents(shop, "stock.changed")).toEqual([]);
  });
});
