import type { Row } from "../import-item.ts";
import { decodeCharacters, htmlToText, listOf, prices, type ShopFormat, type ShopTable } from "./shop-table.ts";

const used =
  /^(id|type|sku|name|published|(short )?description|date sale price (starts|ends)|(in )?stock\??|(sale|regular) price|tags|images|parent|brands|position|categories|backorders allowed\?|visibility in catalog|attribute \d+ (name|value\(s\)))$/;

/** Each product and each variation has a row. A variation names its product by SKU, or by id if that has no SKU. */
export const wooCommerce: ShopFormat = {
  source: "woocommerce",
  needs: ["type", "name", "regular price"],
  aliases: {},
  isUsed: (column) => used.test(column),
  keyOf(table, row) {
    const type = typeOf(table, row);
    if (type === "variation" && table.read(row, "published") !== "0") return table.read(row, "parent");
    if (type === "simple" || type === "variable") return table.read(row, "sku") || `id:${table.read(row, "id")}`;
    table.leaveOut(type === "variation" ? "variations that are disabled" : `products of the type "${type}"`, row);
    return undefined;
  },
  readProduct(table, rows) {
    const { read, leaveOut } = table;
    const variations = rows.filter((row) => typeOf(table, row) === "variation");
    const [product, ...others] = rows.filter((row) => typeOf(table, row) !== "variation");
    for (const row of others) leaveOut("another product with the same SKU", row);
    if (!product) return void rows.map((row) => leaveOut("variations of a product that is not in the file", row));
    const isVariable = typeOf(table, product) === "variable";
    const bought = (isVariable ? variations : [product]).filter(
      (row) => read(row, "regular price") || read(row, "sale price") || leaveOut("without a price", row),
    );
    if (bought.length === 0) return isVariable ? leaveOut("products without variations", product) : undefined;
    const chosen = bought.flatMap((row) => (isVariable ? attributesOf(table, row).map(([name]) => name) : []));
    const facts = [["vendor", read(product, "brands")] as const, ...attributesOf(table, product)];
    const shown = facts.filter(([name, value]) => value && !chosen.includes(name));
    const paths = listIn(table, product, "categories").map((path) => path.split(" > ").map((title) => title.trim()));
    const fields = {
      title: decodeCharacters(read(product, "name")),
      // WooCommerce writes a line break as \n.
      description: ["short description", "description"]
        .map((column) => htmlToText(read(product, column).replaceAll("\\n", "\n")))
        .filter(Boolean)
        .join("\n\n"),
      status: statusOf(table, product),
      tags: listOf(listIn(table, product, "tags")),
      categories: paths.filter((path) => path.join() !== "Uncategorized"),
      images: listIn(table, product, "images").map((url) => ({ url })),
      metadata: shown.length > 0 ? { public: Object.fromEntries(shown) } : undefined,
      allow_backorder: bought.every((row) => /^(1|notify)$/.test(read(row, "backorders allowed?"))),
    };
    const sold = bought.map((row) => ({ line: row.line, document: readSellable(table, row) }));
    return { line: product.line, fields, sold };
  },
};

function readSellable(table: ShopTable, row: Row) {
  const attributes = typeOf(table, row) === "variation" ? attributesOf(table, row) : [];
  const options = attributes.filter(([, value]) => value !== "");
  for (const [name, value] of attributes) if (value === "") table.leaveOut(`the choice of any ${name}`, row);
  const regular = table.amount(row, "regular price");
  return {
    options: Object.fromEntries(options),
    title: attributes.length > 0 && options.length === 0 ? table.read(row, "name") : undefined,
    sku: table.read(row, "sku") || undefined,
    ...prices((isOnSale(table, row) ? table.amount(row, "sale price") : undefined) ?? regular, regular),
    stock: stockOf(table, row),
    images: listIn(table, row, "images").map((url) => ({ url })),
  };
}

function isOnSale({ read, leaveOut }: ShopTable, row: Row): boolean {
  const today = new Date().toISOString().slice(0, 10);
  const [starts = "", ends = ""] = ["starts", "ends"].map((which) =>
    read(row, `date sale price ${which}`).slice(0, 10),
  );
  if (starts > today || (ends !== "" && ends < today)) return false;
  if (ends !== "") leaveOut("the end of a sale", row);
  return true;
}

function stockOf({ read, stock, leaveOut }: ShopTable, row: Row): unknown {
  const cell = read(row, "stock");
  if (cell === "parent")
    return leaveOut("shared stock of variations is not counted until you set the stock of each", row);
  if (cell === "") return read(row, "in stock?") === "0" ? 0 : null;
  return stock(row, "stock");
}

function statusOf({ read, leaveOut }: ShopTable, row: Row): string {
  if (read(row, "published") !== "1") return "draft";
  if (read(row, "visibility in catalog") !== "hidden") return "published";
  leaveOut("products that are hidden in the catalogue become drafts", row);
  return "draft";
}

/** Returns the attributes with their values. A variation has one value, or an empty text for any value. */
function attributesOf(table: ShopTable, row: Row): [name: string, value: string][] {
  const numbers = table.columns.flatMap((column) => /^attribute (\d+) name$/.exec(column)?.[1] ?? []);
  return numbers.flatMap((number) => {
    const name = decodeCharacters(table.read(row, `attribute ${number} name`));
    return name === "" ? [] : [[name, listIn(table, row, `attribute ${number} value(s)`).join(", ")]];
  });
}

/** Splits texts at commas; a comma in a text has a backslash before it. */
function listIn(table: ShopTable, row: Row, column: string): string[] {
  const texts = table.read(row, column).replaceAll("\\,", "\0").split(",");
  return texts.flatMap((text) => decodeCharacters(text.replaceAll("\0", ",").trim()) || []);
}

function typeOf({ read }: ShopTable, row: Row): string {
  return read(row, "type").split(",", 1)[0] ?? "";
}
