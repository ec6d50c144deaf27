import { expect } from "bun:test";
import { patchProduct } from "../../../src/server/modules/catalogue/products/service.ts";
import { addVariant } from "../../../src/server/modules/catalogue/variants/variants.ts";
import { type ProductReply, type Shop, tenantContext, type VariantReply } from "../../support/factories.ts";
import type { OrderReply } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

const sizes = [
  { options: { size: "S" }, stock: 9 },
  { options: { size: "M" }, price: 7, compare_at_price: 8 },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  const shirt = (shop: Shop, fields: object = {}) =>
    shop.createProduct({ title: "Shirt", price: 5, variants: sizes, ...fields });
  const read = async ({ call }: Shop, id: string) => (await call<ProductReply>(`GET /products/${id}/`)).data;
  const prices = ({ variants }: ProductReply) =>
    variants.map(({ price, compare_at_price, has_own_price, version }) => [
      price,
      compare_at_price,
      has_own_price,
      version,
    ]);
  const path = (product: ProductReply, index: number) =>
    `/products/${product.id}/variants/${product.variants[index]?.id ?? ""}/`;
  const patch = async ({ call }: Shop, product: ProductReply, index: number, body: object) =>
    (await call<VariantReply>(`PATCH ${path(product, index)}`, { body })).data;

  test("a variant without its own price has the product's price, in replies and orders", async (shop) => {
    const product = await shirt(shop);
    expect(prices(product)).toEqual([
      [5, null, false, 1],
      [7, 8, true, 1],
    ]);
    suite.app.clock.advance(1000);
    const at = `/products/${product.id}/`;
    const patched = await shop.call<ProductReply>(`PATCH ${at}`, { body: { price: 50 } });
    expect(prices(patched.data)).toEqual([
      [50, null, false, 2],
      [7, 8, true, 1],
    ]);
    expect([patched.data.version, patched.headers.get("etag"), patched.data.variants[0]?.updated_at]).toEqual([
      2,
      '"2"',
      patched.data.updated_at,
    ]);
    expect(await read(shop, product.id)).toEqual(patched.data);
    const items = product.variants.map(({ id }) => ({ variant_id: id, quantity: 1 }));
    const order = await shop.call<OrderReply>("POST /orders/", { body: { items } });
    expect(order.data.items.map(({ price_minor }) => price_minor)).toEqual([5000, 700]);

    const replaced = await shop.call<ProductReply>(`PUT ${at}`, {
      body: { title: "Shirt", price: 60, compare_at_price: 70 },
    });
    expect(prices(replaced.data)[0]).toEqual([60, 70, false, 3]);
    const compared = await shop.call<ProductReply>(`PATCH ${at}`, { body: { compare_at_price: null } });
    expect(prices(compared.data)[0]).toEqual([60, null, false, 4]);
    // A price change that does not affect this variant does not change its version.
    await shop.call(`PATCH ${at}`, { body: { price: 60 } });
    await shop.call(`PATCH ${at}`, { body: { title: "Tee" } });
    expect(prices(await read(shop, product.id))).toEqual([
      [60, null, false, 4],
      [7, 8, true, 1],
    ]);
  });

  test("a given price becomes the variant's own price, and null removes it", async (shop) => {
    const product = await shirt(shop, { compare_at_price: 6 });
    const shown = ({ price, compare_at_price, has_own_price }: VariantReply) => [
      price,
      compare_at_price,
      has_own_price,
    ];
    expect(prices(product)[0]).toEqual([5, 6, false, 1]);
    // When a variant gets its own price, it loses the inherited compare-at price, but not its own.
    expect(shown(await patch(shop, product, 0, { price: 5 }))).toEqual([5, null, true]);
    expect(shown(await patch(shop, product, 0, { compare_at_price: 9 }))).toEqual([5, 9, true]);
    expect(shown(await patch(shop, product, 0, { price: 4 }))).toEqual([4, 9, true]);
    await shop.call(`PATCH /products/${product.id}/`, { body: { price: 10 } });
    expect(prices(await read(shop, product.id))[0]).toEqual([4, 9, true, 4]);
    expect(shown(await patch(shop, product, 0, { price: null }))).toEqual([10, 6, false]);
    expect(shown(await patch(shop, product, 0, { price: null, compare_at_price: null }))).toEqual([10, 6, false]);
    expect(shown(await patch(shop, product, 0, { compare_at_price: null }))).toEqual([10, 6, false]);
    for (const body of [{ compare_at_price: 12 }, { price: null, compare_at_price: 12 }]) {
      const { code, fields } = await shop.call(`PATCH ${path(product, 0)}`, { body });
      expect([code, fields]).toEqual([5102, ["compare_at_price"]]);
    }
    expect(shown(await patch(shop, product, 1, { price: null }))).toEqual([10, 6, false]);
    await shop.call(`PATCH /products/${product.id}/`, { body: { price: 11 } });
    expect((await read(shop, product.id)).variants.map(({ price }) => price)).toEqual([11, 11]);
  });

  test("if a product gets a price in another currency, variants without their own price take it, and own prices keep their currency", async (shop) => {
    const product = await shirt(shop);
    const ctx = await tenantContext(shop);
    const yen = { ...ctx, tenant: { ...ctx.tenant, currency: "JPY" } };
    const own = JSON.parse((await addVariant(yen, product.id, { title: "L", price: 700 })).json) as VariantReply;
    expect([own.price, own.price_minor, own.currency]).toEqual([700, 700, "JPY"]);
    await patchProduct(yen, product.id, { price: 500 }, { ifMatch: null });
    const { variants } = await read(shop, product.id);
    expect(variants.map(({ price, price_minor, currency }) => [price, price_minor, currency])).toEqual([
      [500, 500, "JPY"],
      [7, 700, "EUR"],
      [700, 700, "JPY"],
    ]);
  });

  test("the sum of the maximum stock of all variants is exact", async (shop) => {
    const most = 1_000_000_000_000;
    const variants = Array.from({ length: 100 }, (_, n) => ({ options: { n: String(n) }, stock: most }));
    const product = await shirt(shop, { variants });
    const list = await shop.call<ProductReply[]>("GET /products/", { query: { ids: product.id } });
    for (const { stock, available } of [product, await read(shop, product.id), list.data[0] as ProductReply]) {
      expect([stock, available]).toEqual([100 * most, 100 * most]);
    }
  });

  test("a SKU is trimmed, and a hidden SKU cannot be used again", async (shop) => {
    const lamp = await shop.createProduct({ sku: " L-1 " });
    expect(lamp.sku).toBe("L-1");
    const add = (body: object) => shop.call<VariantReply>(`POST /products/${lamp.id}/variants/`, { body });
    expect((await add({ title: "A", sku: "\u00a0L-2 " })).data.sku).toBe("L-2");
    // A product with variants shows neither its own SKU nor its own stock.
    expect((await read(shop, lamp.id)).sku).toBeNull();
    for (const sku of ["L-1", " L-1", "L-2 "]) {
      const body = { title: "A", price: 1, sku };
      expect((await shop.call("POST /products/", { body })).code).toBe(5302);
      expect((await add({ title: "B", options: { a: "b" }, sku })).code).toBe(5302);
    }
  });
});
