import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { listCategoryTree } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts, type ProductDocument } from "../../src/server/modules/catalogue/list/list.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { decodeText } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { newReport } from "../../src/server/modules/catalogue/transfer/migration/shop-table.ts";
import { tenantContext } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

type Cells = Record<string, string>;

/** Returns a CSV file. A row has its cells by the names of the columns. */
function fileOf(columns: string[], rows: Cells[]): string {
  const quote = (cell = "") => `"${cell.replaceAll('"', '""')}"`;
  const lines = rows.map((row) => columns.map((name) => quote(row[name])).join(","));
  return `${[columns.map(quote).join(","), ...lines].join("\r\n")}\r\n`;
}

async function importFile(ctx: Ctx, text: string) {
  const report = newReport();
  async function* pieces() {
    yield Buffer.from(text);
  }
  const items = readCsv(decodeText(pieces()), report);
  return { ...(await importProducts(ctx, items, { onError: "skip", isDryRun: false })), ...report };
}

/** Returns the products of a store by slug, with the titles of their categories. */
async function productsOf(ctx: Ctx) {
  const list = JSON.parse((await listProducts(ctx, { limit: 100 })).json) as ProductDocument[];
  const titles = new Map((await listCategoryTree(ctx)).map(({ id, title }) => [id, title]));
  return Object.fromEntries(
    list.map((one) => [one.slug, { ...one, categories: one.category_ids.map((id) => titles.get(id)) }]),
  );
}

const shopifyColumns = [
  ...["Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Published", "Option1 Name"],
  ...["Option1 Value", "Option2 Name", "Option2 Value", "Variant SKU", "Variant Grams", "Variant Inventory Tracker"],
  ...["Variant Inventory Qty", "Variant Inventory Policy", "Variant Price", "Variant Compare At Price", "Image Src"],
  ...["Image Position", "Image Alt Text", "Gift Card", "SEO Title", "Variant Image", "Status"],
];
const newNames: Cells = {
  ...{ Handle: "URL handle", "Body (HTML)": "Description", Published: "Published on online store" },
  ...{ "Variant SKU": "SKU", "Variant Price": "Price", "Variant Compare At Price": "Compare-at price" },
  ...{ "Variant Inventory Tracker": "Inventory tracker", "Variant Inventory Qty": "Inventory quantity" },
  ...{ "Variant Inventory Policy": "Continue selling when out of stock", "Image Src": "Product image URL" },
  ...{ "Variant Image": "Variant image URL", "Option1 Name": "Option1 name", "Variant Grams": "Weight value (grams)" },
};
const boot = { Handle: "rain-boot" };
const counted = { "Variant Inventory Tracker": "shopify", "Variant Inventory Policy": "deny" };
const shopifyRows: Cells[] = [
  {
    ...boot,
    ...counted,
    ...{ Title: "Rain boot", "Body (HTML)": "<p>Dry&nbsp;feet.</p><ul><li>Rubber</li><li>Size 36 &amp; up</li></ul>" },
    ...{ Vendor: "Pluvia", "Product Category": "Shoes & Co > Boots", Type: "Wellies", Tags: "rain, boots, rain" },
    ...{ Published: "TRUE", Status: "active", "Option1 Name": "Colour", "Option1 Value": "Red" },
    ...{ "Option2 Name": "Size", "Option2 Value": "36", "Variant SKU": "'0036", "Variant Inventory Qty": "4" },
    ...{ "Variant Price": "40.00", "Variant Compare At Price": "50.00", "Variant Grams": "900", "SEO Title": "Boots" },
    ...{ "Image Src": "https://cdn.example/1.jpg", "Image Position": "1", "Image Alt Text": "A red boot" },
    ...{ "Variant Image": "https://cdn.example/1.jpg", "Gift Card": "FALSE" },
  },
  {
    ...boot,
    ...counted,
    ...{ "Option1 Value": "Red", "Option2 Value": "37", "Variant SKU": "BOOT-37", "Variant Inventory Qty": "-2" },
    ...{ "Variant Price": "40.00", "Variant Compare At Price": "50.00", "Image Src": "https://cdn.example/2.jpg" },
  },
  { ...boot, ...counted, "Option1 Value": "Blue", "Option2 Value": "36", "Variant Price": "45.5" },
  { ...boot, "Image Src": "https://cdn.example/3.jpg", "Image Position": "3" },
  {
    ...{ Handle: "felt-cap", Title: "Felt cap", "Option1 Name": "Title", "Option1 Value": "Default Title" },
    ...{
      "Variant SKU": "CAP",
      Published: "true",
      "Variant Price": "12",
      "Variant Compare At Price": "9",
      Type: "Hats",
    },
    ...{ "Variant Inventory Policy": "continue" },
  },
  { Handle: "old-hat", Title: "Old hat", "Variant Price": "1", Published: "TRUE", Status: "archived" },
  { Handle: "hidden-hat", Title: "Hidden hat", "Variant Price": "1", Published: "FALSE", Status: "active" },
  { Handle: "card", Title: "Card", "Variant Price": "25", "Gift Card": "TRUE" },
  { Handle: "No--Price", Title: "No price", "Variant Price": "1,500" },
];
const renamed = (row: Cells) =>
  Object.fromEntries(Object.entries(row).map(([name, cell]) => [newNames[name] ?? name, cell]));

const wooColumns = [
  ...["ID", "Type", "SKU", "Name", "Published", "Visibility in catalog", "Short description", "Description"],
  ...["Date sale price starts", "Date sale price ends", "In stock?", "Stock", "Backorders allowed?", "Weight (kg)"],
  ...["Sale price", "Regular price", "Categories", "Tags", "Images", "Parent", "Attribute 1 name"],
  ...["Attribute 1 value(s)", "Attribute 2 name", "Attribute 2 value(s)", "Brands"],
];
const listed = { Published: "1", "Visibility in catalog": "visible", "In stock?": "1" };
const variation = { ...listed, Type: "variation", Parent: "TEE", "Attribute 1 name": "Size", "Regular price": "1" };
const small = { "Attribute 1 value(s)": "S" };
const wooRows: Cells[] = [
  { ...variation, ...small, SKU: "T-S", "Regular price": "20,00", Stock: "3" },
  {
    ...listed,
    ...{ ID: "7", Type: "variable", SKU: "TEE", Name: "Tee &amp; more", "Short description": "'- Soft" },
    ...{ Description: "One\\ntwo", Categories: "Clothing > Tees, Sale\\, final, Uncategorized", Tags: "a, b, a" },
    ...{ Images: "https://cdn.example/a.jpg, https://cdn.example/b.jpg", Brands: "Pluvia", "Weight (kg)": "1" },
    ...{ "Attribute 1 name": "Size", "Attribute 1 value(s)": "S, M", "Attribute 2 name": "Fabric" },
    "Attribute 2 value(s)": "Cotton, Wool",
  },
  { ...variation, SKU: "T-M", "Attribute 1 value(s)": "M", "Regular price": "22,50", "Sale price": "21,00" },
  { ...variation, ...small, Published: "0" },
  { ...variation, ...small, Parent: "id:99" },
  { ...listed, ID: "13", Type: "grouped", Name: "A set" },
  { ...listed, ID: "14", Type: "simple", Name: "Asked for" },
  {
    ...listed,
    ...{ ID: "15", Type: "simple, downloadable", SKU: "SONG", Name: "Song", "Regular price": "3", "Sale price": "2" },
    ...{ "Date sale price ends": "2001-01-01 00:00:00", "In stock?": "0", "Backorders allowed?": "notify" },
  },
  { ...listed, ID: "16", Type: "simple", Name: "Secret", "Regular price": "3", "Visibility in catalog": "hidden" },
  { ...listed, ID: "17", Type: "simple", Name: "Draft", "Regular price": "3", Published: "-1", Stock: "2" },
  {
    ...variation,
    SKU: "T-ANY",
    Name: "Tee - any",
    Stock: "parent",
    "Date sale price ends": "2999-01-01",
    "Sale price": "0,5",
  },
];

onDatabase("file", (suite) => {
  test.each([
    ["older", shopifyColumns, shopifyRows],
    ["newer", shopifyColumns.map((name) => newNames[name] ?? name), shopifyRows.map(renamed)],
  ])("a Shopify export with the %s column names is imported as it is", async (_, columns, rows) => {
    const ctx = await tenantContext(await suite.shop());
    const result = await importFile(ctx, fileOf(columns, rows));
    expect(result).toMatchObject({ source: "shopify", created: 4, failed: 1 });
    expect(result.errors).toEqual([{ line: 10, field: "price", message: expect.stringContaining("number") }]);
    const [weight, ...others] = result.left_out.columns;
    expect([weight, others]).toEqual([expect.stringMatching(/grams/i), ["SEO Title"]]);
    expect(result.left_out.rows).toEqual([
      { reason: "negative stock becomes 0", lines: [3] },
      { reason: "stock that is not in the file is not counted until you set it", lines: [4] },
      { reason: "gift cards are not sold", lines: [9] },
    ]);
    const products = await productsOf(ctx);
    expect(products["rain-boot"]).toMatchObject({
      ...{ title: "Rain boot", description: "Dry feet.\n\n- Rubber\n- Size 36 & up", status: "published" },
      ...{ tags: ["rain", "boots", "Wellies"], categories: ["Boots"], metadata: { public: { vendor: "Pluvia" } } },
      ...{ price: 40, compare_at_price: 50, allow_backorder: false },
      images: [
        { url: "https://cdn.example/1.jpg", alt: "A red boot" },
        { alt: "" },
        { url: "https://cdn.example/3.jpg" },
      ],
      variants: [
        { sku: "0036", options: { Colour: "Red", Size: "36" }, stock: 4, has_own_price: false },
        { sku: "BOOT-37", stock: 0, has_own_price: false, compare_at_price: 50 },
        { sku: null, options: { Colour: "Blue", Size: "36" }, stock: null, price: 45.5, compare_at_price: null },
      ],
    });
    expect(products["felt-cap"]).toMatchObject({ sku: "CAP", price: 12, compare_at_price: null, categories: ["Hats"] });
    expect(products["felt-cap"]).toMatchObject({ variants: [], stock: null, allow_backorder: true });
    expect([products["old-hat"]?.status, products["hidden-hat"]?.status]).toEqual(["archived", "draft"]);
    expect(await importFile(ctx, fileOf(columns, rows))).toMatchObject({ unchanged: 4, updated: 0, created: 0 });
  });

  test("a WooCommerce export is imported as it is, with variations at any place in the file", async () => {
    const ctx = await tenantContext(await suite.shop());
    const text = `\uFEFF${fileOf(wooColumns, wooRows)}`;
    const result = await importFile(ctx, text);
    expect(result).toMatchObject({ source: "woocommerce", created: 4, failed: 0, errors: [] });
    expect(result.left_out).toEqual({
      columns: ["Weight (kg)"],
      rows: [
        { reason: "variations that are disabled", lines: [5] },
        { reason: 'products of the type "grouped"', lines: [7] },
        { reason: "the choice of any Size", lines: [12] },
        { reason: "the end of a sale", lines: [12] },
        { reason: "shared stock of variations is not counted until you set the stock of each", lines: [12] },
        { reason: "variations of a product that is not in the file", lines: [6] },
        { reason: "without a price", lines: [8] },
        { reason: "products that are hidden in the catalogue become drafts", lines: [10] },
      ],
    });
    const products = await productsOf(ctx);
    expect(products["tee-more"]).toMatchObject({
      ...{ title: "Tee & more", description: "- Soft\n\nOne\ntwo", tags: ["a", "b"], price: 20, status: "published" },
      ...{ categories: ["Tees", "Sale, final"], metadata: { public: { vendor: "Pluvia", Fabric: "Cotton, Wool" } } },
      images: [{ url: "https://cdn.example/a.jpg" }, { url: "https://cdn.example/b.jpg" }],
      variants: [
        { sku: "T-S", options: { Size: "S" }, stock: 3, compare_at_price: null, has_own_price: false },
        { sku: "T-M", options: { Size: "M" }, stock: null, price: 21, compare_at_price: 22.5 },
        { sku: "T-ANY", title: "Tee - any", options: {}, stock: null, price: 0.5, compare_at_price: 1 },
      ],
    });
    expect(products.song).toMatchObject({ price: 3, compare_at_price: null, stock: 0, allow_backorder: true });
    expect([products.secret?.status, products.draft?.status, products.draft?.stock]).toEqual(["draft", "draft", 2]);
    expect(await importFile(ctx, text)).toMatchObject({ unchanged: 4, updated: 0, created: 0 });
  });

  const tooLow = "must be a number of at least 0";

  test.each([
    [
      "Shopify",
      "Handle,Title,Variant Price,Variant Inventory Tracker,Variant Inventory Qty\na,A,-5,shopify,-1\nb,B,5,x,1\n",
    ],
    ["WooCommerce", "Type,SKU,Name,Published,Regular price,Stock\nsimple,a,A,1,-5,-1\nsimple,b,B,1,5,1\n"],
    [
      "WooCommerce",
      "Type,SKU,Name,Published,Regular price,Sale price,Stock\nsimple,a,A,1,5,-5,-1\nsimple,b,B,1,5,,1\n",
    ],
  ])("a negative price in an export of %s is an error of its line, and negative stock becomes 0", async (_, text) => {
    const ctx = await tenantContext(await suite.shop());
    const result = await importFile(ctx, text);
    expect(result.errors).toEqual([{ line: 2, field: "price", message: tooLow }]);
    expect(result.left_out.rows).toEqual([{ reason: "negative stock becomes 0", lines: [2] }]);
    expect(Object.keys(await productsOf(ctx))).toEqual(["b"]);
  });

  test("a negative price of a variant is an error of the variant's line", async () => {
    const ctx = await tenantContext(await suite.shop());
    const text = "Handle,Title,Option1 Name,Option1 Value,Variant Price\na,A,Size,S,1\na,,,M,-1\n";
    const result = await importFile(ctx, text);
    expect(result.errors).toEqual([{ line: 3, field: "variant_price", message: `${tooLow} or null` }]);
    expect([result.left_out.rows, await productsOf(ctx)]).toEqual([[], {}]);
  });

  test("two products of a Shopify export with the same handle are an error that names the column", async () => {
    const ctx = await tenantContext(await suite.shop());
    const result = await importFile(ctx, "Handle,Title,Variant Price\na,A,1\nb,B,2\na,Other,3\n");
    const message = expect.stringContaining('other rows have the handle "a"');
    expect(result.errors).toEqual([{ line: 4, field: "Option1 Value", message }]);
    expect(Object.keys(await productsOf(ctx))).toEqual(["b"]);
  });

  test("the rows of a Shopify product need not follow each other", async () => {
    const ctx = await tenantContext(await suite.shop());
    const header = "Handle,Title,Option1 Name,Option1 Value,Variant Price\n";
    const result = await importFile(ctx, `${header}a,A,Size,S,1\nb,B,,,2\na,,,M,3\n`);
    expect(result).toMatchObject({ created: 2, errors: [] });
    expect((await productsOf(ctx)).a?.variants).toMatchObject([{ price: 1 }, { price: 3 }]);
  });

  test("categories of different parents with the same title stay apart, and existing ones are used", async () => {
    const ctx = await tenantContext(await suite.shop());
    const paths = ["Men > Shirts", "Women > Shirts", "Men", "Men > Shirts"];
    const rows = paths.map((path, index) => `p${index},P${index},1,${path}\n`);
    await importFile(ctx, `Handle,Title,Variant Price,Product Category\n${rows.join("")}`);
    const tree = await listCategoryTree(ctx);
    expect(tree.map(({ title, level }) => `${level} ${title}`)).toEqual(["0 Men", "1 Shirts", "0 Women", "1 Shirts"]);
    const products = await productsOf(ctx);
    const places = rows.map((_, index) =>
      tree.findIndex(({ id }) => id === products[`p${index}`]?.category_ids.join()),
    );
    expect(places).toEqual([1, 3, 0, 1]);
  });

  test("if a row of a product has too many cells, no part of the product is written", async () => {
    const ctx = await tenantContext(await suite.shop());
    const result = await importFile(
      ctx,
      "Handle,Title,Option1 Name,Option1 Value,Variant Price\na,A,Size,S,1\na,,,M,1,x\nb,B,,,2\n",
    );
    expect(result.errors).toEqual([{ line: 3, field: null, message: "has 6 cells, but the header has 5 columns" }]);
    expect(Object.keys(await productsOf(ctx))).toEqual(["b"]);
  });
});
