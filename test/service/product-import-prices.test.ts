import { beforeEach, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { createCategory } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { csvFormat, exportProducts } from "../../src/server/modules/catalogue/transfer/export.ts";
import { importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { decodeText, readNdjson } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { addVariant } from "../../src/server/modules/catalogue/variants/variants.ts";
import { type ProductReply, tenantContext, type VariantReply } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** A product in a file. Fields may be missing or changed. */
type Document = Partial<Omit<ProductReply, "variants">> & { variants?: Partial<VariantReply>[] };

onDatabase("file", (suite) => {
  let ctx: Ctx;
  beforeEach(async () => {
    ctx = await tenantContext(await suite.shop());
  });
  const run = async (items: Parameters<typeof importProducts>[1], into = ctx) => {
    const { created, updated, unchanged, errors } = await importProducts(into, items, {
      onError: "stop",
      isDryRun: false,
    });
    return { created, updated, unchanged, errors: errors.map(({ field, message }) => `${field} ${message}`) };
  };
  const csv = (text: string, into?: Ctx) => run(readCsv(decodeText(bytesOf(text))), into);
  const ndjson = (documents: readonly (Document | string)[], into?: Ctx) => {
    const lines = documents.map((document) => (typeof document === "string" ? document : JSON.stringify(document)));
    return run(readNdjson(decodeText(bytesOf(lines.join("\n")))), into);
  };
  const exported = async (from = ctx) => {
    const lines: string[] = [];
    for await (const page of exportProducts(from)) lines.push(...page);
    return lines;
  };
  const products = async (from = ctx) => (await exported(from)).map((line) => JSON.parse(line) as ProductReply);
  const prices = async (from = ctx) =>
    (await products(from)).map(({ price, variants }) => [
      price,
      ...variants.map(({ price, compare_at_price, has_own_price }) => [price, compare_at_price, has_own_price]),
    ]);
  const makeShirt = () =>
    createProduct(ctx, {
      title: "Shirt",
      price: 5,
      compare_at_price: 6,
      variants: [{ options: { size: "S" } }, { options: { size: "M" }, price: 5 }],
    });
  const nothing = { created: 0, updated: 0, unchanged: 0, errors: [] };
  const asMade = [5, [5, 6, false], [5, null, true]];

  test("variants inherit the product's price after an export and an import, even in another store", async () => {
    await makeShirt();
    const before = await exported();
    const { header, render } = csvFormat();
    const table = header + before.map(render).join("");
    const other = await tenantContext(await suite.shop());
    const third = await tenantContext(await suite.shop());
    expect(await ndjson(before)).toEqual({ ...nothing, unchanged: 1 });
    expect(await csv(table)).toEqual({ ...nothing, unchanged: 1 });
    expect(await exported()).toEqual(before);

    const [{ id, ...document }] = (await products()) as [ProductReply];
    expect(await ndjson([document], other)).toEqual({ ...nothing, created: 1 });
    expect(await csv(table.replaceAll(id, ""), third)).toEqual({ ...nothing, created: 1 });
    expect([await prices(other), await prices(third)]).toEqual([[asMade], [asMade]]);
  });

  test("if an exported file is imported with a new product price, variants inherit it; a new variant price becomes the variant's own", async () => {
    await makeShirt();
    const [document] = (await products()) as [ProductReply];
    const [small, medium] = document.variants as [VariantReply, VariantReply];
    expect(await ndjson([{ ...document, price: 8 }])).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[8, [8, 6, false], [5, null, true]]]);
    // An older file restores the old price, even if it was inherited.
    expect(await ndjson([document])).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([asMade]);
    const changed = { ...document, variants: [{ ...small, price: 9 }, medium] };
    expect(await ndjson([changed])).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[5, [9, 6, true], [5, null, true]]]);
    // Imports the older file again, whose `has_own_price` applies.
    expect(await ndjson([document])).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([asMade]);
  });

  test("without has_own_price, a given price is the variant's own price, and null means the product's price", async () => {
    await makeShirt();
    const [{ id, variants }] = (await products()) as [ProductReply];
    const [small] = variants as [VariantReply];
    const say = (fields: object) => ndjson([{ id, variants: [{ id: small.id, ...fields }] }]);
    expect(await say({ price: null, compare_at_price: null })).toEqual({ ...nothing, unchanged: 1 });
    expect(await say({ stock: null })).toEqual({ ...nothing, unchanged: 1 });
    expect(await say({ price: 5, compare_at_price: 6 })).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[5, [5, 6, true], [5, null, true]]]);
    expect(await say({ price: 5, compare_at_price: 6 })).toEqual({ ...nothing, unchanged: 1 });
    expect(await say({ price: null })).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([asMade]);
    expect((await say({ has_own_price: "no" })).errors).toEqual(["variants.0.has_own_price must be true or false"]);
    expect((await say({ compare_at_price: 9 })).errors).toHaveLength(1);
    const table = (price: string) =>
      `id,variant_id,variant_price,variant_compare_at_price\n${id},${small.id},${price},\n`;
    expect(await csv(table(""))).toEqual({ ...nothing, unchanged: 1 });
    // A cell with a value sets the price, even if it is the present price.
    expect(await csv(table("5"))).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[5, [5, null, true], [5, null, true]]]);
    expect(await csv(table("5"))).toEqual({ ...nothing, unchanged: 1 });
  });

  test("a price list from before a sale restores all prices, even those of variants without their own price", async () => {
    await createProduct(ctx, {
      title: "Shirt",
      price: 100,
      variants: [{ options: { n: "1" } }, { options: { n: "2" } }],
    });
    const lines = await exported();
    const { header, render } = csvFormat(["title", "price", "variant_price", "variant_compare_at_price"]);
    const list = header + lines.map(render).join("");
    const sale = list.replaceAll(/,-,-$/gm, ",30,100");
    expect(await csv(sale)).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[100, [30, 100, true], [30, 100, true]]]);
    // Empty cells change nothing.
    expect(await csv(list.replaceAll(/,-,-$/gm, ",,"))).toEqual({ ...nothing, unchanged: 1 });
    expect(await csv(list)).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[100, [100, null, false], [100, null, false]]]);
  });

  test("an import finds a product by its hidden SKU, and compares SKUs in their stored form", async () => {
    const { json } = await createProduct(ctx, { title: "Lamp", price: 1, sku: "L" });
    const { id } = JSON.parse(json) as ProductReply;
    await addVariant(ctx, id, { title: "Red", sku: "L-R" });
    expect(await ndjson(await exported())).toEqual({ ...nothing, unchanged: 1 });
    expect(await csv("sku,variant_sku,price\n L , L-R ,1\n")).toEqual({ ...nothing, unchanged: 1 });
    expect(await csv("sku,variant_sku,price\nL,L-R,2\n")).toEqual({ ...nothing, updated: 1 });
    expect(await prices()).toEqual([[2, [2, null, false]]]);
  });

  test("an import refuses more than the maximum stock, and names the field", async () => {
    const { errors } = await csv("title,price,stock\nLamp,1,1000000000001\n");
    expect(errors).toEqual(["stock must be a whole number from 0 to 1000000000000 or null"]);
  });
});

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}

const run = (ctx: Ctx, items: Parameters<typeof importProducts>[1]) =>
  importProducts(ctx, items, { onError: "stop", isDryRun: false });

const inCategory = async (ctx: Ctx, category: string) =>
  (JSON.parse((await listProducts(ctx, { category })).json) as { slug: string }[]).map(({ slug }) => slug);

onDatabase("file", (suite) => {
  test("an export names categories by slug, and an import into another store finds its categories", async () => {
    const [from, csv, ndjson] = await Promise.all([0, 1, 2].map(async () => tenantContext(await suite.shop())));
    for (const ctx of [from, csv, ndjson] as Ctx[]) {
      for (const title of ["Lamps", "Sale | new"]) await createCategory(ctx, { title });
    }
    await createProduct(from as Ctx, { title: "Torch", price: 3, category_ids: ["lamps", "sale-new"] });
    await createProduct(from as Ctx, { title: "Chair", price: 3 });
    const { header, render } = csvFormat(["title", "slug", "price", "categories"]);
    const rows: string[] = [];
    for await (const page of exportProducts(from as Ctx)) rows.push(...page);
    const table = header + rows.map(render).join("");
    expect(table).toContain("lamps|sale-new");
    const documents = rows.map((row) => ({ ...JSON.parse(row), id: undefined }));
    expect(documents.map(({ categories }) => categories)).toEqual([["lamps", "sale-new"], []]);
    const csvText = table.replace(/prod_\w+/g, "");
    for (const ctx of [csv, ndjson] as Ctx[]) {
      const read = () =>
        ctx === csv
          ? readCsv(whole(csvText))
          : readNdjson(whole(documents.map((one) => JSON.stringify(one)).join("\n")));
      expect(await run(ctx, read())).toMatchObject({ created: 2, errors: [] });
      expect(await inCategory(ctx, "lamps")).toEqual(["torch"]);
      expect(await run(ctx, read())).toMatchObject({ unchanged: 2, errors: [] });
    }
  });

  test("the error of a line with an unknown category names its place in the file", async () => {
    const ctx = await tenantContext(await suite.shop());
    const result = await run(ctx, readCsv(whole("title,price,categories\nTorch,3,lamps\n")));
    expect(result.errors).toEqual([expect.objectContaining({ line: 2, field: "categories" })]);
  });

  test("an import refuses a line with too many categories before it creates any of them", async () => {
    const ctx = await tenantContext(await suite.shop());
    const importTorch = (names: string[]) => {
      const torch = { title: "Torch", price: 3, categories: names.map((name) => [name]) };
      return run(ctx, readNdjson(whole(`${JSON.stringify(torch)}\n`)));
    };
    const { errors } = await importTorch(Array.from({ length: 51 }, (_, n) => `Shelf ${n}`));
    expect(errors).toEqual([{ line: 1, field: "categories", message: expect.stringContaining("at most 50") }]);
    expect(await importTorch(Array(50).fill("Shelf"))).toMatchObject({ created: 1, errors: [] });
  });
});
