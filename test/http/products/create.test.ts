import { expect } from "bun:test";
import type { CallOptions } from "../../support/client.ts";
import type { ProductReply } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const lamp = { title: "Lamp", price: 19.99 };
const request = "POST /products/";

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a product needs only title and price; other fields have defaults", async ({ call }) => {
    const { status, data, headers } = await call<ProductReply>(request, { body: lamp });
    expect(status).toBe(201);
    const at = new Date(suite.app.clock.now()).toISOString();
    expect(data).toEqual({
      id: expect.stringMatching(/^prod_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      ...lamp,
      slug: "lamp",
      description: null,
      status: "published",
      price_minor: 1999,
      compare_at_price: null,
      currency: "EUR",
      sku: null,
      stock: null,
      available: null,
      allow_backorder: false,
      images: [],
      tags: [],
      category_ids: [],
      weight_g: null,
      requires_shipping: true,
      tax_class: "standard",
      metadata: {},
      translations: {},
      variants: [],
      likes_count: 0,
      views_count: 0,
      lang: "en",
      version: 1,
      created_at: at,
      updated_at: at,
      published_at: at,
    });
    expect(headers.get("etag")).toBe('"1"');
  });

  test("every field is stored as given", async ({ call }) => {
    const body = {
      title: "Lampe « Été » 灯 💡",
      slug: "été-lampe_2",
      description: "First line.\nSecond\tline, 100% 'quoted' \"twice\" \\ back.",
      status: "draft",
      price: 0.1,
      compare_at_price: 0.2,
      sku: "LMP/01 ü",
      stock: 0,
      allow_backorder: true,
      images: [{ url: "https://img.example.com/a.png?x=1", alt: "A lamp" }, { url: "http://img.example.com/b" }],
      tags: ["home", "Été", "home "],
      metadata: { a: { b: [1, "two", null, true, { c: 1.5 }] }, "": "empty name", "x.y": "dotted" },
    };
    const created = await call<ProductReply>(request, { body, query: { lang: "fr-ca" } });
    expect(created.status).toBe(201);
    expect(created.data).toMatchObject({
      ...body,
      images: [
        { ...body.images[0], position: 0 },
        { ...body.images[1], alt: "", position: 1 },
      ],
      lang: "fr-CA",
      published_at: null,
    } as never);
    const read = await call(`GET /products/${created.data.id}/`);
    expect(read.data).toEqual(created.data as never);
  });

  test("a product created without lang has the store's language", async () => {
    const { createProduct } = await suite.shop({ tenant: { language: "pt-BR" } });
    expect((await createProduct()).lang).toBe("pt-BR");
  });

  test("the error for missing, unknown or computed fields, unknown parameters and an invalid language names them", async ({
    call,
  }) => {
    const refused: [sent: CallOptions, fields: string[]][] = [
      [{}, ["price", "title"]],
      [{ body: { ...lamp, colour: "not-to-be-echoed" } }, ["colour"]],
      [{ body: { ...lamp, id: "prod_1", price_minor: 1, version: 7 } }, ["id", "price_minor", "version"]],
      [{ body: lamp, query: { lang: "not a language" } }, ["lang"]],
      [{ body: lamp, query: { dry_run: "1" } }, ["dry_run"]],
    ];
    for (const [sent, fields] of refused) {
      const reply = await call(request, sent);
      expect([reply.code, reply.fields.toSorted()]).toEqual([5102, fields]);
      expect(reply.text).not.toContain("not-to-be-echoed");
    }
    expect<unknown>((await call("GET /products/")).data).toEqual([]);
  });
});
