// Checks the script in `examples/migration` that converts product exports of other shops.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ctx } from "../../src/server/context.ts";
import { listCategoryTree } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts, type ProductDocument } from "../../src/server/modules/catalogue/list/list.ts";
import { importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { decodeText, readNdjson } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { makeDir } from "../cli/run-bodega.ts";
import { tenantContext } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

const script = join(import.meta.dir, "../../examples/migration/convert.js");
const dir = makeDir();

type Cells = Record<string, string>;

/** Returns a CSV file. A row has its cells by the names of the columns. */
function fileOf(columns: string[], rows: Cells[]): string {
  const quote = (cell = "") => `"${cell.replaceAll('"', '""')}"`;
  const lines = rows.map((row) => columns.map((name) => quote(row[name])).join(","));
  return `${[columns.map(quote).join(","), ...lines].join("\r\n")}\r\n`;
}

function convert(text: string | Uint8Array) {
  const path = join(dir, "export.csv");
  writeFileSync(path, text);
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, script, path]);
  return { code: exitCode, output: stdout.toString(), said: stderr.toString().trim().split("\n").filter(Boolean) };
}

async function importOutput(ctx: Ctx, output: string) {
  async function* pieces() {
    yield Buffer.from(output);
  }
  return await importProducts(ctx, readNdjson(decodeText(pieces())), { onError: "skip", isDryRun: false });
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
  ...[
    "Date sale price starts",
    "Date sale price ends",
    "In stock?",
    "Stock",
    "Backorders allowed?",
    "Weight (kg)",
    "Tax class",
  ],
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
    ...{
      Images: "https://cdn.example/a.jpg, https://cdn.example/b.jpg",
      Brands: "Pluvia",
      "Weight (kg)": "0.15",
      "Tax class": "reduced",
    },
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
  ])("a converted Shopify export with the %s column names can be imported", async (_, columns, rows) => {
    const ctx = await tenantContext(await suite.shop());
    const { code, output, said } = convert(fileOf(columns, rows));
    expect(said).toEqual([
      "not imported, because there is no such field: SEO Title",
      "not imported, line 3: negative stock becomes 0",
      "not imported, line 4: stock that is not in the file is not counted until you set it",
      "not imported, line 9: gift cards are not sold",
      expect.stringMatching(/^line 10: price is "1,500", but must be a number .* The product is not imported\.$/),
    ]);
    expect(code).toBe(1);
    expect(await importOutput(ctx, output)).toMatchObject({ created: 4, failed: 0, errors: [] });
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
        { sku: "0036", options: { Colour: "Red", Size: "36" }, stock: 4, has_own_price: false, weight_g: 900 },
        { sku: "BOOT-37", stock: 0, has_own_price: false, compare_at_price: 50 },
        { sku: null, options: { Colour: "Blue", Size: "36" }, stock: null, price: 45.5, compare_at_price: null },
      ],
    });
    expect(products["felt-cap"]).toMatchObject({ sku: "CAP", price: 12, compare_at_price: null, categories: ["Hats"] });
    expect(products["felt-cap"]).toMatchObject({ variants: [], stock: null, allow_backorder: true });
    expect([products["old-hat"]?.status, products["hidden-hat"]?.status]).toEqual(["archived", "draft"]);
    expect(await importOutput(ctx, output)).toMatchObject({ unchanged: 4, updated: 0, created: 0 });
  });

  test("a converted WooCommerce export with variations at any place in the file can be imported", async () => {
    const ctx = await tenantContext(await suite.shop());
    const { code, output, said } = convert(`\uFEFF${fileOf(wooColumns, wooRows)}`);
    expect(said).toEqual([
      "not imported, because there is no such field: Tax class",
      "not imported, line 5: variations that are disabled",
      'not imported, line 7: products of the type "grouped"',
      "not imported, line 12: the choice of any Size",
      "not imported, line 12: the end of a sale",
      "not imported, line 12: shared stock of variations is not counted until you set the stock of each",
      "not imported, line 6: variations of a product that is not in the file",
      "not imported, line 8: without a price",
      "not imported, line 10: products that are hidden in the catalogue become drafts",
    ]);
    expect(code).toBe(0);
    expect(await importOutput(ctx, output)).toMatchObject({ created: 4, failed: 0, errors: [] });
    const products = await productsOf(ctx);
    expect(products["tee-more"]).toMatchObject({
      ...{ title: "Tee & more", description: "- Soft\n\nOne\ntwo", tags: ["a", "b"], price: 20, status: "published" },
      ...{ categories: ["Tees", "Sale, final"], metadata: { public: { vendor: "Pluvia", Fabric: "Cotton, Wool" } } },
      ...{ images: [{ url: "https://cdn.example/a.jpg" }, { url: "https://cdn.example/b.jpg" }], weight_g: 150 },
      variants: [
        { sku: "T-S", options: { Size: "S" }, stock: 3, compare_at_price: null, has_own_price: false },
        { sku: "T-M", options: { Size: "M" }, stock: null, price: 21, compare_at_price: 22.5 },
        { sku: "T-ANY", title: "Tee - any", options: {}, stock: null, price: 0.5, compare_at_price: 1 },
      ],
    });
    expect(products.song).toMatchObject({ price: 3, compare_at_price: null, stock: 0, allow_backorder: true });
    expect([products.secret?.status, products.draft?.status, products.draft?.stock]).toEqual(["draft", "draft", 2]);
    expect(await importOutput(ctx, output)).toMatchObject({ unchanged: 4, updated: 0, created: 0 });
  });

  test("categories of different parents with the same title stay apart", async () => {
    const ctx = await tenantContext(await suite.shop());
    const paths = ["Men > Shirts", "Women > Shirts", "Men"];
    const rows = paths.map((path, index) => `p${index};P${index};1,5;${path}\n`);
    const { output } = convert(`Handle;Title;Variant Price;Product Category\n${rows.join("")}`);
    expect(await importOutput(ctx, output)).toMatchObject({ created: 3, errors: [] });
    const tree = await listCategoryTree(ctx);
    expect(tree.map(({ title, level }) => `${level} ${title}`)).toEqual(["0 Men", "1 Shirts", "0 Women", "1 Shirts"]);
    expect((await productsOf(ctx)).p1).toMatchObject({ price: 1.5, category_ids: [tree[3]?.id] });
  });
});

test.each([
  ["Shopify", "Handle,Title,Option1 Name,Option1 Value,Variant Price\na,A,Size,S,1\nb,B,,,2\na,,,M,-1\n", 4],
  ["WooCommerce", "Type,SKU,Name,Published,Regular price,Sale price\nsimple,a,A,1,5,-5\nsimple,b,B,1,2,\n", 2],
])("a negative price in an export of %s is an error, but the other products are converted", (_, text, line) => {
  const { code, output, said } = convert(text);
  expect([code, said]).toEqual([1, [expect.stringContaining(`line ${line}: `)]]);
  expect(
    output
      .split("\n")
      .filter(Boolean)
      .map((one) => JSON.parse(one)),
  ).toMatchObject([{ title: "B", price: 2 }]);
});

test("two Shopify products with the same handle are an error, and neither of them is converted", () => {
  const { code, output, said } = convert("Handle,Title,Variant Price\na,A,1\nb,B,2\na,Other,3\n");
  const message = 'line 4: has no option, and other lines have the handle "a". The product is not imported.';
  expect([code, said]).toEqual([1, [message]]);
  expect(JSON.parse(output)).toMatchObject({ title: "B" });
});

const notUtf8 = Buffer.from("Handle,Title\na,Gl\xfchwein\n", "latin1");
test.each<[what: string, text: string | Uint8Array, message: string]>([
  ["of another program", "name,amount\nMug,5\n", "is not a product export of Shopify or WooCommerce"],
  ["without a line", "", "is not a product export of Shopify or WooCommerce"],
  ["that is not UTF-8", notUtf8, "is not valid UTF-8"],
  ["with an open quote", 'Handle,Title\na,"A\n', "line 2 has a quote that is never closed"],
  ["with a misplaced quote", 'Handle,Title\n"a"b,A\n', "line 2 has a misplaced quote"],
  ["with too many cells", 'Handle,Title\n"a\nb",A\na,A,x\n', "line 4 has 3 cells, but the header has 2 columns"],
])("a file %s is not converted, and the error says why", (_, text, message) => {
  expect(convert(text)).toEqual({ code: 2, output: "", said: [expect.stringContaining(message)] });
});

test.each([
  ["plain text\nin two lines", "plain text\nin two lines"],
  ["<p>One\ntwo</p>\n\n<p>Three<br/>four</p>", "One two\n\nThree\nfour"],
  ["<ul>\n<li>red</li>\n<li><b>blue</b></li></ul>end", "- red\n- blue\n\nend"],
  ["<table><tr><td>a</td><td>b</td></tr></table>", "a b"],
  ["Gr&ouml;&szlig;e &Auml; 5&nbsp;&#8211;&#x20AC; &lt;b&gt; &unknown; &#xD800;", "Größe Ä 5 –€ <b> &unknown; �"],
  ['<a href="a/b">link</a><!-- <p>no</p> --><script>if (a < b) c()</script><style>p{}</style>', "link"],
  ["1 < 2 and 3 > 2, <3, <unclosed", "1 < 2 and 3 > 2, <3, <unclosed"],
])("the description %p is converted to text", (html, description) => {
  const { output } = convert(fileOf(["Handle", "Title", "Body (HTML)"], [{ Handle: "a", "Body (HTML)": html }]));
  expect(JSON.parse(output)).toMatchObject({ description });
});
