import { isSlug, slugFrom } from "../../products/slug.ts";
import type { Row } from "../import-item.ts";
import { htmlToText, listOf, prices, type ShopFormat, type ShopTable } from "./shop-table.ts";

const aliases: Record<string, string> = {
  handle: "url handle",
  "body (html)": "description",
  published: "published on online store",
  "variant sku": "sku",
  "variant price": "price",
  "variant compare at price": "compare-at price",
  "variant inventory tracker": "inventory tracker",
  "variant inventory qty": "inventory quantity",
  "variant inventory policy": "continue selling when out of stock",
  "image src": "product image url",
  "variant image": "variant image url",
};
const others =
  /^(title|vendor|product category|type|tags|status|image (position|alt text)|gift card|option[123] (name|value))$/;

export const shopify: ShopFormat = {
  source: "shopify",
  needs: ["url handle", "title"],
  aliases,
  isUsed: (column) => others.test(column) || Object.values(aliases).includes(column),
  keyOf: ({ read }, row) => read(row, "url handle"),
  readProduct(table, rows) {
    const { read, leaveOut } = table;
    const [first] = rows as [Row];
    if (/^true$/i.test(read(first, "gift card"))) return leaveOut("gift cards are not sold", first);
    const texts = ["url handle", "product category", "type", "vendor", "status"].map((column) => read(first, column));
    const [handle = "", category = "", type = "", vendor = "", status = ""] = texts;
    const path = (category || type).split(" > ").map((title) => title.trim());
    const isPublished = /^(active)?$/i.test(status) && /^(true)?$/i.test(read(first, "published on online store"));
    const bought = rows.filter((row) => ["option1 value", "price", "sku"].some((column) => read(row, column) !== ""));
    const sold = bought.map((row) => ({ line: row.line, document: readVariant(table, first, row) }));
    const fields = {
      title: read(first, "title"),
      slug: isSlug(handle) ? handle : slugFrom(handle) || undefined,
      description: htmlToText(read(first, "description")),
      status: /^archived$/i.test(status) ? "archived" : isPublished ? "published" : "draft",
      tags: listOf([...read(first, "tags").split(","), ...(category ? [type] : [])]),
      categories: path[0] ? [path] : [],
      images: rows
        .map((row) => ({ url: read(row, "product image url"), alt: read(row, "image alt text") }))
        .filter(({ url }) => url),
      metadata: vendor ? { public: { vendor } } : undefined,
      allow_backorder: bought.every((row) =>
        /^(continue|true)$/i.test(read(row, "continue selling when out of stock")),
      ),
    };
    const alike = sold.length > 1 && sold.findLast(({ document }) => Object.keys(document.options).length === 0);
    const message = `is empty, and other rows have the handle ${JSON.stringify(handle)}. Give each variant an option, or each product its own handle`;
    const faults = alike ? [{ line: alike.line, field: "Option1 Value", message }] : [];
    return { line: first.line, fields, sold, faults };
  },
};

function readVariant({ read, amount, stock, leaveOut }: ShopTable, first: Row, row: Row) {
  const options = [1, 2, 3].map((place) => [read(first, `option${place} name`), read(row, `option${place} value`)]);
  const isCounted = read(row, "inventory tracker") !== "";
  const counted = isCounted ? stock(row, "inventory quantity") : null;
  if (counted === undefined) leaveOut("stock that is not in the file is not counted until you set it", row);
  return {
    options: Object.fromEntries(options.filter(([name, value]) => name && value && value !== "Default Title")),
    // Shopify writes an apostrophe before SKUs that spreadsheets would shorten.
    sku: read(row, "sku").replace(/^'/, "") || undefined,
    ...prices(amount(row, "price"), amount(row, "compare-at price")),
    stock: counted,
    images: listOf([read(row, "variant image url")]).map((url) => ({ url })),
  };
}
