import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { upload } from "../../support/pictures.ts";
import { onDatabase } from "../../support/suite.ts";

type Reply = Record<string, unknown>;
const variants = [
  { options: { size: "S" }, stock: 2, sku: "S-1" },
  { options: { size: "M" }, stock: 3, price: 9, compare_at_price: 12 },
];

const productOf = async (shop: Shop, fields: object, lang?: string): Promise<string> => {
  const body = { title: "Lamp", price: 5, ...fields };
  const { data } = await shop.call<{ id: string }>("POST /products/", { body, query: lang ? { lang } : {} });
  return `/products/${data.id}/`;
};

/** Records that do not change if a PUT sends the reply of a GET. `make` returns the path of a record. */
const records: [name: string, make: (shop: Shop) => Promise<string>][] = [
  [
    "a product with everything",
    async (shop) =>
      productOf(shop, {
        images: [{ media_id: (await upload(shop.call)).data.id, alt: "A" }, { url: "https://example.com/a.png" }],
        ...{ tags: ["a"], metadata: { public: { a: 1 } }, sku: "L-1", stock: 4, compare_at_price: 7, status: "draft" },
        category_ids: [(await shop.call<{ id: string }>("POST /categories/", { body: { title: "Home" } })).data.id],
        ...{ description: "Bright", translations: { de: { title: "Lampe" } }, allow_backorder: true },
      }),
  ],
  ["a product with variants", (shop) => productOf(shop, { variants })],
  [
    "a product in another language than the store's, with a translation into it",
    (shop) => productOf(shop, { title: "Lampada", translations: { en: { title: "Lamp" } } }, "it"),
  ],
  [
    "a product on a wishlist",
    async (shop) => {
      const { id } = await shop.createProduct();
      const customer_id = (await openAccount(shop)).id;
      await shop.call("POST /wishlist/", { body: { product_id: id, note: "Blue", customer_id } });
      return `/wishlist/${id}/?customer_id=${customer_id}`;
    },
  ],
];

onDatabase("file", (suite) => {
  const { test } = suite;
  for (const [name, make] of records) {
    test(`a PUT of ${name}, as GET returned it, changes nothing`, async (shop) => {
      const [path = "", search] = (await make(shop)).split("?");
      const query = Object.fromEntries(new URLSearchParams(search));
      const { data: before } = await shop.call<Reply>(`GET ${path}`, { query });
      const put = await shop.call<Reply>(`PUT ${path}`, { query, body: before });
      expect([put.code, put.status]).toEqual([undefined, 200]);
      const { data: after } = await shop.call<Reply>(`GET ${path}`, { query });
      expect(after).toEqual({ ...before, version: Number(before.version) + 1, updated_at: after.updated_at });
      const unknown = await shop.call(`PUT ${path}`, { query, body: { ...before, colour: "red" } });
      expect([unknown.code, unknown.fields]).toEqual([5102, ["colour"]]);
    });
  }

  test("a document from GET can be changed and sent with PUT; read-only fields are ignored, and a changed sum of the variants' stock is refused", async (shop) => {
    const path = await productOf(shop, { variants });
    const { data: product } = await shop.call<ProductReply & Reply>(`GET ${path}`);
    const sum = await shop.call(`PUT ${path}`, { body: { ...product, stock: 50 } });
    expect([sum.code, sum.fields]).toEqual([5102, ["stock"]]);
    const read = { id: "prod_1", currency: "USD", likes_count: 9, variants: [], version: 9, published_at: "never" };
    const { data } = await shop.call<Reply>(`PUT ${path}`, { body: { title: "Torch", price: 4, ...read } });
    expect(data).toMatchObject({ id: product.id, currency: "EUR", likes_count: 0, title: "Torch" });
    expect((data.variants as unknown[]).length).toBe(2);
  });
});
