import { beforeAll, expect } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { openAccount } from "../../support/account.ts";
import type { ApiReply, CallOptions } from "../../support/client.ts";
import { bearer, type ProductReply, type Shop, type VariantReply } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const page = "https://shop.example.com";
const internal = { cost: 3.2, supplier: "Contraband Ltd" };
const sizes = [
  { options: { stock: "M" }, sku: "T-M", stock: 700 },
  { options: { stock: "L" }, sku: "T-L", price: 21.5, stock: 4 },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  let shop: Shop;
  let mug: ProductReply;
  let shirt: ProductReply;
  let hidden: ProductReply[];
  /** Callers by name. Some may read only the catalogue, others also the private fields of products. */
  const readers: Record<string, (request: string, query?: Record<string, string>) => Promise<ApiReply>> = {};
  const insiders: typeof readers = {};

  beforeAll(async () => {
    shop = await suite.shop();
    mug = await shop.createProduct({
      title: "Enamel mug",
      stock: 1234,
      images: [{ url: "https://a.example/1.jpg", alt: ',"allow_backorder":' }],
      metadata: { ...internal, public: { material: "steel" } },
    });
    const translations = { de: { title: "Hemd" }, sv: { title: "Skjorta" } };
    shirt = await shop.createProduct({ title: "Shirt", variants: sizes, metadata: internal, translations });
    hidden = [
      await shop.createProduct({ title: "Contraband draft", slug: "draft", status: "draft" }),
      await shop.createProduct({ title: "Contraband relic", slug: "relic", status: "archived" }),
    ];
    const asKey = async (scopes: string[], more: CallOptions = {}, origins?: string[]) => {
      const key = await shop.issueKey({ scopes });
      if (origins) await setOrigins(suite.app.system, { appId: key.app_id, origins });
      return (request: string, query = {}) => shop.call(request, { auth: bearer(key), query, ...more });
    };
    const headers = { origin: page };
    readers["a storefront key"] = await asKey(["catalog:read", "customers:sign-up"], { headers }, [page]);
    readers["a catalogue key of a server"] = await asKey(["catalog:read"]);
    readers["a page with a key that reads products"] = await asKey(["products:read"], { headers });
    const [customer, owner] = [await openAccount(shop), await openAccount(shop, { role: "owner" })];
    const ofUser =
      (account: typeof owner) =>
      (request: string, query: Record<string, string> = {}) =>
        account.call(request, { query: { user_id: account.id, token: account.token, ...query } });
    readers["a customer"] = ofUser(customer);
    insiders["an owner"] = ofUser(owner);
    insiders["a key that reads products"] = await asKey(["products:read"]);
    insiders["a key that writes products"] = await asKey(["catalog:read", "products:write"], { headers });
  });

  const list = async (name: string, query = {}) =>
    (await readers[name]?.("GET /products/", query)) as ApiReply<ProductReply[]> & ApiReply;

  for (const name of [
    "a storefront key",
    "a catalogue key of a server",
    "a page with a key that reads products",
    "a customer",
  ]) {
    const read = async (request: string, query = {}) => (await readers[name]?.(request, query)) as ApiReply<never>;

    test(`${name} sees only published products, with at most ten available and public metadata, in lists and alone`, async () => {
      const one = (await read(`GET /products/${mug.id}/`)).data as ProductReply;
      const { stock: _, ...rest } = mug;
      expect(one).toEqual({ ...rest, available: 10, metadata: { public: { material: "steel" } } } as never);
      expect((await list(name)).data as unknown[]).toEqual([
        (await read(`GET /products/${shirt.slug}/`)).data,
        (await read(`GET /products/${mug.slug}/`)).data,
      ]);
      expect((await list(name, { lang: "de", fields: "title,available,metadata" })).data as unknown[]).toEqual([
        { id: shirt.id, title: "Hemd", available: 10, metadata: {} },
        { id: mug.id, title: "Enamel mug", available: 10, metadata: { public: { material: "steel" } } },
      ]);
    });

    test(`${name} sees variants without their stock, within a product, in their list and alone`, async () => {
      const expected = shirt.variants.map(({ stock: _, ...rest }) => ({
        ...rest,
        available: Math.min(rest.available ?? 0, 10),
      }));
      expect(expected.map(({ available }) => available)).toEqual([10, 4]);
      const one = (await read(`GET /products/${shirt.id}/`)).data as ProductReply;
      expect(one.variants as unknown).toEqual(expected);
      expect((await read(`GET /products/${shirt.id}/variants/`)).data as unknown).toEqual(expected);
      for (const [index, { id }] of shirt.variants.entries()) {
        const variant = (await read(`GET /products/${shirt.slug}/variants/${id}/`)).data as VariantReply;
        expect(variant).toEqual(expected[index] as never);
      }
    });

    test(`${name} finds no other products or fields by any sort, filter, field, slug or id`, async () => {
      const ids = [mug, shirt, ...hidden].map(({ id }) => id).join(",");
      const shown = [mug.id, shirt.id].toSorted();
      for (const query of [
        ...["title", "-title", "price", "updated_at", "-updated_at", "created_at"].map((sort) => ({ sort })),
        { ids },
        { q: "shirt" },
        { q: "contraband" },
        { slug: "draft" },
        { status: "published" },
        { "price[gte]": "0", include_total: "true" },
      ] as Record<string, string>[]) {
        const { data, text, page: found } = await list(name, query);
        expect(data.map(({ id }) => id).toSorted()).toEqual(shown.filter((id) => text.includes(id)));
        // The test searches for more than the name, because a language and an option have the same name.
        expect(text).not.toMatch(/"stock":(?:null|\d)|contraband|"cost"/i);
        if (query.include_total) expect(found.total).toBe(2);
      }
      for (const status of ["draft", "archived"]) expect((await list(name, { status })).code).toBe(5300);
      for (const fields of ["stock", "id,stock"]) {
        const refused = [await list(name, { fields }), await read(`GET /products/${mug.id}/`, { fields })];
        for (const { code, error } of refused) {
          expect(code).toBe(5102);
          expect(JSON.stringify(error)).not.toContain("stock");
        }
      }
      for (const { id, slug } of hidden) {
        for (const named of [id, slug]) {
          expect((await read(`GET /products/${named}/`)).code).toBe(5301);
          expect((await read(`GET /products/${named}/variants/`)).code).toBe(5301);
        }
      }
    });
  }

  test("staff, and keys that read or write products, see drafts and all fields of products", async () => {
    for (const [name, read] of Object.entries(insiders)) {
      expect([name, (await read(`GET /products/${mug.id}/`)).data]).toEqual([name, mug as never]);
      expect([name, (await read(`GET /products/${shirt.id}/variants/`)).data]).toEqual([name, shirt.variants as never]);
      expect([name, (await read("GET /products/draft/")).data]).toMatchObject([
        name,
        { id: hidden[0]?.id, stock: null },
      ]);
    }
  });

  test("visitors see 0 available for sold-out and backordered products, null for uncounted stock, and a sale at once", async (other) => {
    const key = bearer(await other.issueKey({ scopes: ["catalog:read"] }));
    const { id } = await other.createProduct({ stock: 2, allow_backorder: true });
    const shown = async () => {
      const { data } = await other.call<ProductReply>(`GET /products/${id}/`, { auth: key });
      const listed = await other.call<ProductReply[]>("GET /products/", { auth: key });
      expect(listed.data[0]).toEqual(data);
      return [data.available, data.allow_backorder];
    };
    expect(await shown()).toEqual([2, true]);
    await other.call("POST /orders/", { body: { items: [{ product_id: id, quantity: 5 }] } });
    expect(await shown()).toEqual([0, true]);
    await other.call(`PATCH /products/${id}/`, { body: { stock: null, allow_backorder: false } });
    expect(await shown()).toEqual([null, false]);
  });
});
