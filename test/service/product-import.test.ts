import { beforeEach, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import type { Ctx } from "../../src/server/context.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import type { ProductInput } from "../../src/server/modules/catalogue/products/model.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { csvFormat, exportProducts } from "../../src/server/modules/catalogue/transfer/export.ts";
import { type ImportOptions, importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { decodeText, readNdjson } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { type ProductReply, type Shop, tenantContext, type VariantReply } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

/** Yields the bytes of a text in pieces, which may end within a character. */
async function* cut(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** An incomplete UTF-8 character. */
const BAD = Buffer.from([0xc3]);

const nasty: ProductInput[] = [
  { title: "Plain", price: 1 },
  { title: "=cmd|' /C calc'!A0", price: 2.5, description: '+1\n@x\r\n\ttab, "quotes"; and\rmore', sku: "-SKU" },
  { title: "'=already", price: 0, description: "" },
  { title: "Émile 👩‍👩‍👧 שלום مرحبا", price: 9.99, tags: ["a|b", "[c", "d"], stock: 0, allow_backorder: true },
  {
    title: "Whole",
    price: 3,
    compare_at_price: 4,
    status: "draft",
    metadata: { a: { b: [1, null, "x,y"] }, c: true },
    translations: { de: { title: "Ganz", description: "Zeile\nzwei" }, he: { title: "שלם" } },
    images: [{ url: "https://example.com/a.png", alt: "A | B" }, { url: "https://example.com/b.png" }],
  },
  {
    title: "Shirt",
    price: 10,
    variants: [
      { options: { size: "S", "a=b": "x|y" }, sku: "S-1", stock: 3 },
      { options: { size: "M" }, price: 12.5, compare_at_price: 15 },
      { title: "-9", options: { size: "L" } },
    ],
  },
  {
    title: "Pictures",
    price: 1,
    images: [{ url: "https://example.com/a b" }, { url: "https://example.com/,https://x" }],
  },
  { title: "Brackets", price: 1, tags: [" [a"] },
  { title: "Hard spaces", price: 1, tags: ["\u00A0[a", "[1]", "{}", '"q"', "a\u2028b"] },
  {
    title: "Braces",
    price: 1,
    variants: [
      { options: { ' {"k': "v" } },
      { options: { "\u00A0{": "}" } },
      { options: { size: "S|M" } },
      { options: { "a ": " b", "=": "=" } },
      { options: { "{}": "x" } },
    ],
  },
];

onEachDatabase((suite) => {
  const { onFile } = suite;
  let shop: Shop;
  let ctx: Ctx;
  beforeEach(async () => {
    shop = await suite.shop();
    ctx = await tenantContext(shop);
  });
  const run = (items: Parameters<typeof importProducts>[1], options: Partial<ImportOptions> = {}) =>
    importProducts(ctx, items, { onError: "stop", isDryRun: false, ...options });
  const importCsv = (text: string | Uint8Array, options?: Partial<ImportOptions>) =>
    run(readCsv(decodeText(cut(text))), options);
  const importNdjson = (text: string | Uint8Array, options?: Partial<ImportOptions>) =>
    run(readNdjson(decodeText(cut(text))), options);
  const exported = async () => {
    const pages = [];
    for await (const page of exportProducts(ctx)) pages.push(...page);
    return pages;
  };
  const products = async () => (await exported()).map((json) => JSON.parse(json) as ProductReply);
  const countEvents = async () => {
    const sql = "select count(*) as found from events where tenant_id = ?";
    return (await suite.app.db.execute({ sql, args: [ctx.tenant.id] })).rows[0]?.found;
  };

  test("importing an export again changes nothing, and creates the same products in another store", async () => {
    for (const fields of nasty) await createProduct(ctx, fields, fields.title === "Whole" ? "fr" : undefined);
    const lines = await exported();
    const before = [lines, await countEvents()];
    const { header, render } = csvFormat();
    const csv = header + lines.map(render).join("");
    for (const outcome of [await importCsv(csv), await importNdjson(`${lines.join("\n")}\n`)]) {
      expect(outcome).toMatchObject({ created: 0, updated: 0, unchanged: nasty.length, failed: 0, errors: [] });
    }
    expect([await exported(), await countEvents()]).toEqual(before);

    const told = (list: ProductReply[]) =>
      list.map(({ id: _, created_at, updated_at, published_at, variants, ...rest }) => ({
        ...rest,
        variants: variants.map(({ id: _, created_at, updated_at, ...variant }) => variant),
      }));
    const originals = told(await products());
    for (const form of ["csv", "ndjson"] as const) {
      ctx = await tenantContext(await suite.shop());
      if (form === "csv") await importCsv(csv.replaceAll(/^prod_\w+,/gm, ","));
      else await importNdjson(lines.map((line) => line.replace(/"id":"prod_\w+",/, "")).join("\n"));
      // In CSV, an empty cell means that there is no text.
      const kept = (text: string | null) => (form === "csv" ? text || null : text);
      const expected = originals.map((product) => ({ ...product, description: kept(product.description) }));
      expect(told(await products())).toEqual(expected);
    }
  });

  onFile(
    "a file without ids and SKUs changes nothing when it is imported again: products are found by their slug",
    async () => {
      const rows = ["Desk lamp,39,,", "🎁,5,,", "Shirt,10,,S", "Renamed mug,4,mug,"];
      const csv = `title,price,slug,variant_title\n${rows.join("\n")}\n`;
      const lines = [
        { title: "Chair", price: 9 },
        { title: "Sofa", price: 9, variants: [{ options: { size: "S" } }] },
      ];
      const ndjson = lines.map((line) => JSON.stringify(line)).join("\n");
      await createProduct(ctx, { title: "Mug", price: 4 });
      expect(await importCsv(csv)).toMatchObject({ created: 3, updated: 1, failed: 0 });
      expect(await importNdjson(ndjson)).toMatchObject({ created: 2 });
      const before = [await exported(), await countEvents()];
      expect(await importCsv(csv)).toMatchObject({ created: 0, updated: 0, unchanged: 4, errors: [] });
      expect(await importNdjson(ndjson)).toMatchObject({ created: 0, updated: 0, unchanged: 2, errors: [] });
      expect([await exported(), await countEvents()]).toEqual(before);
      expect(await importCsv(csv.replace("39", "38"))).toMatchObject({ updated: 1, unchanged: 3 });
      expect((await products()).find(({ slug }) => slug === "desk-lamp")).toMatchObject({ price: 38, version: 2 });
    },
  );

  onFile("an import finds a product by its title only if the titles are equal, not only their slugs", async () => {
    for (const title of ["C++", "😀", "Mug"]) await createProduct(ctx, { title, price: 1 });
    const before = [await exported(), await countEvents()];
    for (const [title, slug, other] of [
      ["C#", "c", "C++"],
      ["★", "product", "😀"],
      ["mug", "mug", "Mug"],
    ]) {
      const { errors, ...counts } = await importCsv(`title,price\n${title},2\n`);
      expect(counts).toMatchObject({ created: 0, updated: 0, failed: 1 });
      const message = `makes the slug "${slug}", which the product "${other}" has. Give the row a sku or a slug of its own`;
      expect(errors).toEqual([{ line: 2, field: "title", message: expect.stringContaining(message) }]);
    }
    expect([await exported(), await countEvents()]).toEqual(before);
    expect(await importCsv("title,slug,sku,price\nC#,c-sharp,,2\nmug,mug,,2\n★,,STAR,2\n")).toMatchObject({
      created: 2,
      updated: 1,
    });
    expect((await products()).map(({ title }) => title).toSorted()).toEqual(["C#", "C++", "mug", "★", "😀"]);
  });

  test("an invalid row is rolled back alone; --on-error stop ends the import there, and skip continues", async () => {
    await createProduct(ctx, { title: "Lamp", price: 1, sku: "TAKEN" });
    const file = [
      { title: "First", price: 1, sku: "A" },
      {
        title: "Half",
        price: 1,
        variants: [
          { options: { n: "x" }, sku: "B" },
          { options: { n: "y" }, sku: "A" },
        ],
      },
      { sku: "TAKEN", title: "Renamed", variants: [{ title: "z", sku: "A" }] },
      { title: "Last", price: 2, sku: "C" },
    ];
    const text = file.map((line) => JSON.stringify(line)).join("\n");
    const stopped = await importNdjson(text);
    expect(stopped).toMatchObject({ created: 1, failed: 1, stopped: "error", last_line: 2 });
    expect((await products()).map(({ title }) => title)).toEqual(["Lamp", "First"]);
    const skipped = await importNdjson(text, { onError: "skip" });
    expect(skipped).toMatchObject({ created: 1, unchanged: 1, failed: 2, stopped: null });
    expect(skipped.errors.map(({ line, field }) => [line, field])).toEqual([
      [2, "variants.1.sku"],
      [3, "variants.0.sku"],
    ]);
    expect((await products()).map(({ title }) => title)).toEqual(["Lamp", "First", "Last"]);
    expect(JSON.parse((await listProducts(ctx, { q: "Half" })).json)).toEqual([]);
    expect(JSON.parse((await listProducts(ctx, { q: "Last" })).json)).toHaveLength(1);
  });

  onFile("rows find products by id, then by SKU, add and change variants, and change nothing else", async () => {
    const { json } = await createProduct(ctx, {
      title: "Shirt",
      price: 10,
      description: "kept",
      variants: [
        { options: { size: "S" }, sku: "S" },
        { options: { size: "M" }, sku: "M" },
      ],
    });
    const { id } = JSON.parse(json) as ProductReply;
    const csv = `id,slug,title,variant_sku,option:size,variant_price\n${id},hemd,Hemd,S,S,11\n,hemd,,,L,12\n`;
    expect(await importCsv(csv)).toMatchObject({ updated: 1, failed: 0 });
    expect(await importCsv(csv)).toMatchObject({ updated: 0, unchanged: 1, failed: 0 });
    const [shirt] = await products();
    expect([shirt?.title, shirt?.description]).toEqual(["Hemd", "kept"]);
    expect(shirt?.variants.map(({ options, price }) => [options.size, price])).toEqual([
      ["S", 11],
      ["M", 10],
      ["L", 12],
    ]);
  });

  onFile("importing an export restores each column, even an empty one; empty cells change nothing", async () => {
    for (const fields of [
      { title: "Mug" },
      { title: "Shirt", variants: [{ title: "One" }, { title: "Two", options: { n: "2" } }] },
    ])
      await createProduct(ctx, { price: 1, status: "draft", ...fields });
    const { header, render } = csvFormat();
    const columns = header.trimEnd().split(",");
    const table = async () => header + (await exported()).map(render).join("");
    const [mug, shirt] = (await products()) as [ProductReply, ProductReply];
    const [one, two] = shirt.variants as [VariantReply, VariantReply];
    const empty = await table();
    const rest = { sku: "A", slug: "other", description: "-", status: "published", compare_at_price: 3, stock: 4 };
    const more = { allow_backorder: true, tags: ["-"], images: [{ url: "https://a.example/b" }], metadata: { a: 1 } };
    const translations = { de: { title: "Becher" } };
    const options = { size: "S" };
    const sending = { weight_g: 8, requires_shipping: false, tax_class: "reduced" };
    const numbers = { price: 5, compare_at_price: 6, stock: 7, position: 3, weight_g: 9 };
    const small = { id: one.id, title: "S", options, sku: "B", ...numbers, images: [{ url: "https://a.example/c" }] };
    const documents = [
      { id: mug.id, title: "Cup", price: 2, ...rest, ...more, ...sending, translations },
      { id: shirt.id, variants: [small, { id: two.id, stock: 1, position: 4 }] },
    ];
    expect(await importNdjson(documents.map((one) => JSON.stringify(one)).join("\n"))).toMatchObject({ updated: 2 });
    const full = await table();

    const ids = { mug: { id: mug.id }, shirt: { id: shirt.id, title: "Shirt" } };
    const rows = [ids.mug, { ...ids.shirt, variant_id: one.id }, { id: shirt.id, variant_id: two.id }];
    const blank = rows.map((row) => columns.map((name) => (row as Record<string, string>)[name] ?? "").join(","));
    expect(await importCsv(header + blank.join("\n"))).toMatchObject({ unchanged: 2, errors: [] });
    for (const state of [empty, full, empty]) {
      expect(await importCsv(state)).toMatchObject({ updated: 2, errors: [] });
      expect(await table()).toBe(state);
      expect(await importCsv(state)).toMatchObject({ unchanged: 2 });
    }
    const cells = (text: string) => parse(text, { columns: true }) as Record<string, string>[];
    const [before, after] = [cells(empty), cells(full)];
    const same = columns.filter((name) => before.every((row, index) => row[name] === after[index]?.[name]));
    // These columns cannot be changed.
    expect(same).toEqual(["id", "currency", "categories", "lang", "variant_id"]);
  });

  onFile("a hyphen in a cell means no value, even for a new product; after an apostrophe, it is text", async () => {
    let id = "";
    const csv = (stock: string, sku: string) =>
      `id,sku,title,description,price,stock,tags,variant_title,option:size\n${id},${sku},Mug,'-,1,${stock},-,,\n`;
    expect(await importCsv(csv("-", "-"))).toMatchObject({ created: 1 });
    id = (await products())[0]?.id ?? "";
    expect(await importCsv(csv("", ""))).toMatchObject({ unchanged: 1 });
    expect((await products())[0]).toMatchObject({ sku: null, stock: null, tags: [], description: "-" });
    expect(await importCsv(csv("0", "M"))).toMatchObject({ updated: 1 });
    expect(await importCsv(csv("", ""))).toMatchObject({ unchanged: 1 });
    expect((await products())[0]).toMatchObject({ sku: "M", stock: 0 });
    expect(await importCsv(csv("-", "-"))).toMatchObject({ updated: 1 });
    expect((await products())[0]).toMatchObject({ sku: null, stock: null });
    const twoProducts = "sku,title,price,variant_title,option:size\n-,Hat,1,S,-\n-,Cap,1,M,-\n";
    expect(await importCsv(twoProducts)).toMatchObject({ created: 2, errors: [] });
    expect((await products()).at(-1)?.variants[0]).toMatchObject({ title: "M", options: {} });
  });

  onFile("an import refuses invalid UTF-8 only in its row, and NUL only in its field", async () => {
    const csv = Buffer.concat([
      Buffer.from("\uFEFFsku,title,price\nA,é,1\nB,"),
      BAD,
      Buffer.from(",1\nC,\0,1\nD,Fin,1\n"),
    ]);
    const utf8 = { field: null, message: expect.stringContaining("is not valid UTF-8") };
    const zero = { field: "title", message: expect.stringContaining("must not contain") };
    expect(await importCsv(csv)).toMatchObject({ created: 1, failed: 1, errors: [{ ...utf8, line: 3 }] });
    const skipped = await importCsv(csv, { onError: "skip" });
    expect(skipped).toMatchObject({ created: 1, unchanged: 1, failed: 2, stopped: null });
    expect(skipped.errors).toEqual([
      { ...utf8, line: 3 },
      { ...zero, line: 4 },
    ]);
    const ndjson = Buffer.concat([Buffer.from('{"sku":"G'), BAD, Buffer.from('"}\n{"sku":"H","title":"x","price":1}')]);
    const lines = await importNdjson(ndjson, { onError: "skip" });
    expect(lines).toMatchObject({ created: 1, errors: [{ ...utf8, line: 1 }] });
  });

  onFile("an import writes the products before a misplaced quote, except an incomplete product", async () => {
    const rows = "sku,title,price,option:size,variant_sku\nA,One,1,,\nB,Two,2,,\n";
    for (const onError of ["stop", "skip"] as const) {
      const plain = await importCsv(`${rows}C,a"b"c,3,,\nD,Four,4,,\n`, { onError });
      expect(plain).toMatchObject({ failed: 1, stopped: "error", errors: [{ line: 4 }] });
      expect(plain.created + plain.unchanged).toBe(2);
    }
    const open = await importCsv(`${rows},Shirt,3,S,S-1\n,Shirt,,"M,M-1\n`);
    expect(open).toMatchObject({ created: 0, unchanged: 2, failed: 1, errors: [{ line: 5 }] });
    expect(await products()).toHaveLength(2);
  });

  onFile("rows with the same slug are one product, and so are consecutive rows with the same title", async () => {
    const csv = [
      "sku,slug,title,price,option:size,variant_sku",
      ",shirt,Shirt,10,S,",
      ",shirt,,,M,",
      ",hat,Hat,5,S,",
      ",hat,,,M,",
      ",,Scarf,9,S,S-S",
      ",,Scarf,9,L,S-L",
      ",,Glove,9,S,",
      ",,Glove,9,L,",
      ",,Lone,1,S,",
      ",,Other,1,S,",
    ].join("\n");
    expect(await importCsv(csv)).toMatchObject({ created: 6, failed: 0 });
    expect(await importCsv(csv)).toMatchObject({ unchanged: 6, failed: 0 });
    const found = (await products()).map(({ title, variants }) => [title, variants.length]);
    expect(Object.fromEntries(found)).toEqual({ Shirt: 2, Hat: 2, Scarf: 2, Glove: 2, Lone: 1, Other: 1 });
    const apart = "title,price,option:size\nSock,9,S\nShoe,9,S\nSock,9,L\n";
    expect((await importCsv(apart, { onError: "skip" })).errors).toEqual([
      {
        line: 4,
        field: "title",
        message:
          "has the slug of line 2. Put the rows of a product together, the one with the title first, and repeat its title, id, slug or SKU in each",
      },
    ]);
  });

  const variantsOf = (sku: string) => ["S", "M"].map((size) => ({ options: { size }, sku: `${sku}-${size}` }));

  onFile("rows of an export in another order are errors with line numbers, and erase nothing", async () => {
    for (const title of ["Shirt", "Hat"]) {
      const texts = { description: "Soft", tags: ["new"], metadata: { a: 1 }, translations: { de: { title: "X" } } };
      const images = [{ url: "https://example.com/a.png" }];
      await createProduct(ctx, { title, price: 9, images, ...texts, variants: variantsOf(title) });
    }
    const lines = await exported();
    const { header, render } = csvFormat();
    const [one = "", two = "", three = "", four = ""] = lines.map(render).join("").trimEnd().split("\n");
    for (const [rows, bad] of [
      [[two, one], [3]],
      [[two, four], []],
      [
        [one, three, two, four],
        [4, 5],
      ],
      [[one, two, four, three], [5]],
    ] as const) {
      for (const onError of ["stop", "skip"] as const) {
        const { errors, updated } = await importCsv(header + rows.join("\n"), { onError });
        expect<unknown>([errors.map(({ line }) => line), updated]).toEqual([
          onError === "stop" ? bad.slice(0, 1) : bad,
          0,
        ]);
      }
    }
    expect(await exported()).toEqual(lines);
  });

  onFile("a product that a file names twice, even by different fields, is an error that names both lines", async () => {
    const create = async (title: string, fields: object) =>
      (JSON.parse((await createProduct(ctx, { title, price: 1, ...fields })).json) as ProductReply).id;
    const mug = await create("Mug", { sku: "MUG" });
    const shirt = await create("Shirt", { variants: variantsOf("T") });
    const again = "is the product of line 2. Delete one of the lines";
    const apart =
      "is the product of line 2. Put the rows of a product together, the one with the title first, and repeat its title, id, slug or SKU in each";
    for (const [csv, line, field, message] of [
      [`id,price\n${mug},2\n${mug},3\n`, 3, "id", again],
      [`id,sku,slug,price\n${mug},MUG,,2\n,MUG,,3\n`, 3, "sku", "is also in line 2"],
      [`id,slug,price\n${mug},,2\n,mug,3\n`, 3, null, again],
      ["sku,slug,title,price\nNEW,new,New,2\n,new,New,3\n", 3, null, again],
      ["title,price,sku\nLamp,1,\nLamp!,2,\n", 3, "title", "has the slug of line 2. Give both products a SKU"],
      [`id,sku,title,price,variant_sku\n${shirt},,Shirt,2,T-S\n,MUG,Mug,1,\n${shirt},,Shirt,3,T-M\n`, 4, "id", apart],
      [`id,price,variant_sku\n${shirt},2,T-S\n,3,T-M\n`, 3, null, apart],
    ] as const) {
      const outcome = await importCsv(csv, { onError: "skip" });
      expect(outcome).toMatchObject({ failed: 1, errors: [{ line, field, message }] });
    }
    expect((await products()).map(({ price }) => price)).toEqual([1, 2, 2, 1]);
    const skus = await importCsv("title,price,sku\nDesk,1,D-1\nDesk,2,D-2\n");
    expect(skus).toMatchObject({ created: 2, failed: 0 });
  });

  onFile("product fields that are only in a later row of a product are an error that says so", async () => {
    const refused = async (csv: string) => (await importCsv(csv)).errors;
    expect(await refused("slug,price,option:size\nshirt,,S\nshirt,9,M\n")).toEqual([
      {
        line: 3,
        field: "price",
        message: "is empty in line 2, the first row of this product. Put the row with the product's fields first",
      },
    ]);
    expect((await refused("title,price,option:size\nShirt,8,S\nShirt,9,M\n"))[0]?.message).toBe(
      "differs from line 2, the first row of this product. Write the same in both, or leave it empty here",
    );
  });

  onFile("an import refuses a SKU or stock of a product that has variants", async () => {
    const variants = [
      { options: { n: "x" }, sku: "C1", stock: 3 },
      { options: { n: "y" }, stock: 4 },
    ];
    const { id } = JSON.parse((await createProduct(ctx, { title: "Cup", price: 1, variants })).json) as ProductReply;
    const refused = async (csv: string) => (await importCsv(csv)).errors[0];
    expect(await refused("sku,stock\nC1,55\n")).toMatchObject({
      field: "sku",
      line: 2,
      message: expect.stringContaining("Use variant_sku"),
    });
    const counted = { field: "stock", message: expect.stringContaining("Use variant_stock") };
    expect(await refused(`id,stock\n${id},8\n`)).toMatchObject(counted);
    expect(await refused("title,price,stock,option:n\nNew,1,5,x\n")).toMatchObject(counted);
    expect(await importCsv(`id,stock\n${id},7\n`)).toMatchObject({ unchanged: 1, failed: 0 });
    const edited = `id,stock,variant_sku,variant_stock\n${id},7,C1,5\n`;
    expect(await importCsv(edited)).toMatchObject({ updated: 1, failed: 0 });
    expect(await importCsv(edited)).toMatchObject({ unchanged: 1, failed: 0 });
  });

  onFile("an import writes texts in the product's own language", async () => {
    const translations = { en: { title: "Lamp" } };
    await createProduct(ctx, { title: "Lampe", price: 1, sku: "L", translations }, "fr");
    expect(await importCsv("sku,title\nL,Lampadaire\n")).toMatchObject({ updated: 1 });
    const [line] = await exported();
    expect(JSON.parse(line ?? "")).toMatchObject({ title: "Lampadaire", lang: "fr", translations });
  });

  onFile("an import that is stopped has written exactly the products that it counts", async () => {
    const stop = new AbortController();
    const lines = Array.from({ length: 600 }, (_, index) => `S-${index},Lamp,1`);
    const onProgress = () => stop.abort();
    const result = await importCsv(`sku,title,price\n${lines.join("\n")}`, { signal: stop.signal, onProgress });
    expect(result.stopped).toBe("interrupted");
    expect(result.created).toBeGreaterThan(0);
    expect(result.last_line).toBe(result.created + 1);
    const skus = (await products()).map(({ sku }) => sku);
    expect(new Set(skus)).toEqual(new Set(lines.slice(0, result.created).map((line) => line.split(",")[0] ?? "")));
  });
});
