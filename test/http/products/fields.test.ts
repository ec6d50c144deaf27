import { expect } from "bun:test";
import { onDatabase } from "../../support/suite.ts";

const lamp = { title: "Lamp", price: 1 };
/** Returns nested objects of this depth. */
const nest = (depth: number): unknown => (depth === 0 ? 1 : { a: nest(depth - 1) });

/** Bodies that are refused with 5102, and the field that the error must name. */
const refused: [name: string, field: string, body: Record<string, unknown>][] = [
  ["a title that is not a string", "title", { title: 5 }],
  ["an empty title", "title", { title: "" }],
  ["a null title", "title", { title: null }],
  ["a title of 301 characters", "title", { title: "a".repeat(301) }],
  ["a lone surrogate in a title", "title", { title: "a\ud800" }],
  ["a NUL in a description", "description", { description: "a\0" }],
  ["a lone surrogate in a description", "description", { description: "\udc00" }],
  ["a description of 50,001 characters", "description", { description: "a".repeat(50_001) }],
  ["an upper-case slug", "slug", { slug: "Lamp" }],
  ["a slug with a slash", "slug", { slug: "a/b" }],
  ["a slug with a double hyphen", "slug", { slug: "a--b" }],
  ["a slug that ends in a hyphen", "slug", { slug: "a-" }],
  ["an empty slug", "slug", { slug: "" }],
  ["a null slug", "slug", { slug: null }],
  ["a slug of 121 characters", "slug", { slug: "a".repeat(121) }],
  ["an unknown status", "status", { status: "sold" }],
  ["a status in capitals", "status", { status: "Draft" }],
  ["an empty SKU", "sku", { sku: "" }],
  ["a blank SKU", "sku", { sku: "  " }],
  ["a SKU that is a number", "sku", { sku: 12 }],
  ["a NUL in a SKU", "sku", { sku: "\0" }],
  ["a stock that is a text", "stock", { stock: "3" }],
  ["a stock that a number cannot hold exactly", "stock", { stock: 9007199254740992 }],
  ["a stock above the maximum", "stock", { stock: 1_000_000_000_001 }],
  ["images that are not an array", "images", { images: {} }],
  ["an image without a url", "images.0.url", { images: [{ alt: "x" }] }],
  ["an image with an unknown field", "images.0.size", { images: [{ url: "https://a.b/c", size: 1 }] }],
  ["a NUL in an image's text", "images.0.alt", { images: [{ url: "https://a.b/c", alt: "\0" }] }],
  ["51 images", "images", { images: Array.from({ length: 51 }, () => ({ url: "https://a.b/c" })) }],
  ["tags that are a text", "tags", { tags: "home" }],
  ["a tag that is a number", "tags.1", { tags: ["a", 5] }],
  ["a lone surrogate in a tag", "tags.0", { tags: ["\ud83d"] }],
  ["the same tag twice", "tags.1", { tags: ["a", "a"] }],
  ["101 tags", "tags", { tags: Array.from({ length: 101 }, (_, i) => `t${i}`) }],
  ["metadata that is an array", "metadata", { metadata: [] }],
  ["metadata that is null", "metadata", { metadata: null }],
  ["metadata of more than 16 KiB in bytes, but fewer characters", "metadata", { metadata: { a: "é".repeat(8200) } }],
  ["metadata 21 levels deep", "metadata", { metadata: nest(21) }],
  ["a NUL in metadata", "metadata", { metadata: { a: ["x\0"] } }],
  ["a NUL in a name within metadata", "metadata", { metadata: { "a\0": 1 } }],
  ["a lone surrogate in metadata", "metadata", { metadata: { a: "\udfff" } }],
];

onDatabase("file", (suite) => {
  const { test } = suite;
  test("an invalid field gets 422 with its name, on create, replace and patch", async ({ call, createProduct }) => {
    const { id } = await createProduct();
    const outcomes: unknown[] = [];
    for (const [name, field, body] of refused) {
      for (const [request, whole] of [
        ["POST /products/", { ...lamp, ...body }],
        [`PUT /products/${id}/`, { ...lamp, ...body }],
        [`PATCH /products/${id}/`, body],
      ] as const) {
        const { code, fields } = await call(request, { body: whole });
        if (code !== 5102 || !fields.includes(field)) outcomes.push({ name, request, code, fields });
      }
    }
    expect(outcomes).toEqual([]);
    expect((await call<unknown[]>("GET /products/")).data).toHaveLength(1);
  });

  test("the error for an invalid slug describes valid slugs, which are accepted", async () => {
    const { call, createProduct } = await suite.shop();
    const { text } = await call("POST /products/", { body: { ...lamp, slug: "a--b" } });
    expect(text).toContain("lowercase letters and digits, joined by single hyphens or underscores");
    expect((await createProduct({ slug: "a_b-c" })).slug).toBe("a_b-c");
  });

  test("the largest values of each field are accepted", async ({ createProduct }) => {
    const body = {
      title: "a".repeat(300),
      slug: "a".repeat(120),
      description: "d".repeat(50_000),
      sku: "s".repeat(100),
      stock: 1_000_000_000_000,
      images: Array.from({ length: 50 }, (_, i) => ({ url: `https://a.b/${i}`, alt: "" })),
      tags: Array.from({ length: 100 }, (_, i) => `t${i}`),
      metadata: { a: "x".repeat(16_200), deep: nest(18) },
    };
    expect(await createProduct(body)).toMatchObject(body);
  });

  test("the error for many invalid fields names each field once, and repeats no value", async ({ call }) => {
    const body = { title: 1, price: "hush-hush", slug: "", stock: "hush-hush", tags: 5, surprise: "hush-hush" };
    const { code, fields, text } = await call("POST /products/", { body });
    expect(code).toBe(5102);
    expect(fields.toSorted()).toEqual(["price", "slug", "stock", "surprise", "tags", "title"]);
    expect(text).not.toContain("hush-hush");
  });

  test("metadata can have the names __proto__, constructor and prototype", async ({ call }) => {
    const raw = `{"title":"A","price":1,"metadata":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}`;
    const { status, text } = await call("POST /products/", { raw });
    expect(status).toBe(201);
    expect(text).toContain(`"metadata":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`);
    for (const name of ["__proto__", "constructor", "hasOwnProperty"]) {
      const reply = await call("POST /products/", { raw: `{"title":"A","price":1,"${name}":{"price":2}}` });
      expect([reply.code, reply.fields]).toEqual([5102, [name]]);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
