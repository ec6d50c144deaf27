// Converts a product export of Shopify or WooCommerce to the NDJSON that `bodega product import` reads:
//   node convert.js products_export.csv > products.ndjson
// It has no import statements, so that Node 20 and Bun run it in any folder, also in one without a package.json.

/** The file cannot be converted. */
class FileError extends Error {}

/** The product that has this line cannot be converted. */
class LineError extends Error {
  constructor({ line }, message) {
    super(`line ${line}: ${message}. The product is not imported.`);
  }
}

const report = { columns: new Set(), reasons: new Map(), errors: [] };

function leaveOut(reason, ...rows) {
  for (const { line } of rows) addTo(report.reasons, reason, line);
}

function addTo(lists, key, value) {
  if (!lists.get(key)?.push(value)) lists.set(key, [value]);
}

/** Yields the rows of a CSV file with the numbers of their first lines. */
function* readRows(given) {
  const text = `${given.replace(/\r\n?/g, "\n").replace(/\n$/, "")}\n`;
  const header = text.slice(0, text.indexOf("\n"));
  const [separator] = [",", ";", "\t"].sort((a, b) => header.split(b).length - header.split(a).length);
  const end = new RegExp(`[${separator}\n]`, "g");
  let row = { line: 1, cells: [] };
  for (let [at, line] = [0, 1]; at < text.length; at++) {
    const isQuoted = text[at] === '"';
    const start = isQuoted ? endOfQuotes(text, at, line) : at;
    end.lastIndex = start;
    const { index } = end.exec(text);
    if (isQuoted && index !== start) throw new FileError(`line ${line} has a misplaced quote.`);
    const cell = text.slice(at, index);
    row.cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    line += cell.split("\n").length - 1;
    at = index;
    if (text[at] === separator) continue;
    if (row.cells.some((one) => one !== "")) yield row;
    row = { line: ++line, cells: [] };
  }
}

function endOfQuotes(text, start, line) {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1) throw new FileError(`line ${line} has a quote that is never closed.`);
    if (text[at + 1] !== '"') return at + 1;
  }
}

/** Returns a cell. WooCommerce writes an apostrophe before texts that spreadsheets would run as formulas. */
const read = (row, column) => (row.cells.get(column) ?? "").trim().replace(/^'(?=[=+\-@])/, "");

function amount(row, column) {
  const text = read(row, column);
  if (text === "") return undefined;
  if (/^\d+([.,]\d+)?$/.test(text) && !/,\d{3}$/.test(text)) return Number(text.replace(",", "."));
  throw new LineError(row, `${column} is ${JSON.stringify(text)}, but must be a number of at least 0, such as 19.99`);
}

function stock(row, column) {
  if (!/^-\d/.test(read(row, column))) return amount(row, column);
  // Negative stock means that more was ordered than there is.
  leaveOut("negative stock becomes 0", row);
  return 0;
}

/** Returns grams. Shopify writes 0 for an unknown weight. */
const weightOf = (row, column, grams) => Math.round(amount(row, column) * grams) || undefined;

const prices = (price, former) => ({ price, compare_at_price: former > price ? former : null });
const unique = (texts) => [...new Set(texts.map((text) => text.trim()).filter(Boolean))];
const pathOf = (text) => text.split(" > ").map((title) => title.trim());

/** Builds a product with its variants. A single variant without options becomes the product itself. */
function productOf(fields, sold) {
  const { options = {}, title, price, compare_at_price, ...whole } = sold[0] ?? {};
  const product = { ...fields, price, compare_at_price };
  if (sold.length === 1 && title === undefined && Object.keys(options).length === 0) return { ...whole, ...product };
  const isOwn = (one) => one.price !== price || one.compare_at_price !== compare_at_price;
  return { ...product, variants: sold.map((one) => ({ ...one, has_own_price: isOwn(one) })) };
}

const latin =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
  "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave " +
  "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc " +
  "Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc " +
  "iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
const others =
  "amp& lt< gt> quot\" apos' ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ hellip… bull• euro€ trade™";
const characters = new Map(latin.split(" ").map((name, index) => [name, String.fromCharCode(0xa0 + index)]));
for (const text of others.split(" ")) characters.set(text.slice(0, -1), text.slice(-1));

/** Decodes the character references of an HTML text, such as `&uuml;` and `&#8211;`. Unknown names stay unchanged. */
function decodeCharacters(text) {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    const code = Number(decimal ?? `0x${hex ?? 0}`);
    return (code > 0 ? String.fromCodePoint(code).toWellFormed() : characters.get(name)) ?? whole;
  });
}

const token = /<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1\s*>|$)|<\/?([a-z][a-z\d]*)[^<>]*>/gis;

function htmlToText(html) {
  const source = /<(p|h[1-6]|ul|ol|table|blockquote|div|li|tr|br|hr)\b/i.test(html) ? html.replace(/\s/g, " ") : html;
  const marked = source.replace(token, (tag, _, name = "") => {
    if (/^(p|h[1-6]|ul|ol|table|blockquote)$/i.test(name)) return "\n\n";
    if (/^(div|li|tr)$/i.test(name)) return /^<li\b/i.test(tag) ? "\u2028- " : "\u2028";
    return /^[bh]r$/i.test(name) ? "\n" : /^t[dh]$/i.test(name) ? " " : "";
  });
  // Consecutive elements without text between them start only one line.
  const lines = decodeCharacters(marked.replace(/\u2028[\u2028 ]*/g, "\n")).split("\n");
  const text = lines.map((line) => line.replace(/\s+/g, " ").trim()).join("\n");
  return text.replace(/\n{3,}/g, "\n\n").trim();
}

/** The columns of older exports, and their names in newer ones. */
const shopifyNames = {
  handle: "url handle",
  "body (html)": "description",
  published: "published on online store",
  "variant sku": "sku",
  "variant price": "price",
  "variant compare at price": "compare-at price",
  "variant grams": "weight value (grams)",
  "variant inventory tracker": "inventory tracker",
  "variant inventory qty": "inventory quantity",
  "variant inventory policy": "inventory policy",
  "continue selling when out of stock": "inventory policy",
  "image src": "product image url",
  "variant image": "variant image url",
};
const shopifyColumns =
  /^(title|vendor|product category|type|tags|status|image (position|alt text)|gift card|option[123] (name|value))$/;

const shopify = {
  needs: ["url handle", "title"],
  rename: (column) => shopifyNames[column] ?? column,
  isUsed: (column) => shopifyColumns.test(column) || Object.values(shopifyNames).includes(column),
  keyOf: (row) => read(row, "url handle"),
  readProduct(rows) {
    const [first] = rows;
    if (/^true$/i.test(read(first, "gift card"))) return leaveOut("gift cards are not sold", first);
    const names = ["url handle", "product category", "type", "vendor", "status"];
    const [handle, category, type, vendor, status] = names.map((column) => read(first, column));
    const isPublished = /^(active)?$/i.test(status) && /^(true)?$/i.test(read(first, "published on online store"));
    const bought = rows.filter((row) => ["option1 value", "price", "sku"].some((column) => read(row, column) !== ""));
    const sold = bought.map((row) => readShopifyVariant(first, row));
    const alike = sold.length > 1 && bought[sold.findLastIndex(({ options }) => Object.keys(options).length === 0)];
    if (alike) throw new LineError(alike, `has no option, and other lines have the handle ${JSON.stringify(handle)}`);
    const fields = {
      title: read(first, "title"),
      slug: (handle.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []).join("-") || undefined,
      description: htmlToText(read(first, "description")),
      status: /^archived$/i.test(status) ? "archived" : isPublished ? "published" : "draft",
      tags: unique([...read(first, "tags").split(","), ...(category ? [type] : [])]),
      categories: category || type ? [pathOf(category || type)] : [],
      images: rows
        .map((row) => ({ url: read(row, "product image url"), alt: read(row, "image alt text") }))
        .filter(({ url }) => url),
      metadata: vendor ? { public: { vendor } } : undefined,
      allow_backorder: bought.every((row) => /^(continue|true)$/i.test(read(row, "inventory policy"))),
    };
    return productOf(fields, sold);
  },
};

function readShopifyVariant(first, row) {
  const options = [1, 2, 3].map((place) => [read(first, `option${place} name`), read(row, `option${place} value`)]);
  const counted = read(row, "inventory tracker") === "" ? null : stock(row, "inventory quantity");
  if (counted === undefined) leaveOut("stock that is not in the file is not counted until you set it", row);
  return {
    options: Object.fromEntries(options.filter(([name, value]) => name && value && value !== "Default Title")),
    // Shopify writes an apostrophe before SKUs that spreadsheets would shorten.
    sku: read(row, "sku").replace(/^'/, "") || undefined,
    ...prices(amount(row, "price"), amount(row, "compare-at price")),
    stock: counted,
    weight_g: weightOf(row, "weight value (grams)", 1),
    images: unique([read(row, "variant image url")]).map((url) => ({ url })),
  };
}

const wooColumns =
  /^(id|type|sku|name|published|(short )?description|date sale price (starts|ends)|(in )?stock\??|(sale|regular) price|tags|images|parent|brands|position|categories|weight \(kg\)|backorders allowed\?|visibility in catalog|attribute \d+ (name|value\(s\)))$/;

const typeOf = (row) => read(row, "type").split(",", 1)[0];

/** Each product and each variation has a row. A variation names its product by SKU, or by id if that has no SKU. */
const wooCommerce = {
  needs: ["type", "name", "regular price"],
  rename: (column) => column,
  isUsed: (column) => wooColumns.test(column),
  keyOf(row) {
    const type = typeOf(row);
    if (type === "variation" && read(row, "published") !== "0") return read(row, "parent");
    if (type === "simple" || type === "variable") return read(row, "sku") || `id:${read(row, "id")}`;
    return leaveOut(type === "variation" ? "variations that are disabled" : `products of the type "${type}"`, row);
  },
  readProduct(rows) {
    const variations = rows.filter((row) => typeOf(row) === "variation");
    const [product, ...more] = rows.filter((row) => typeOf(row) !== "variation");
    leaveOut("another product with the same SKU", ...more);
    if (!product) return leaveOut("variations of a product that is not in the file", ...rows);
    const isVariable = typeOf(product) === "variable";
    const bought = (isVariable ? variations : [product]).filter(
      (row) => read(row, "regular price") || read(row, "sale price") || leaveOut("without a price", row),
    );
    if (bought.length === 0) return isVariable ? leaveOut("products without variations", product) : undefined;
    const chosen = isVariable ? bought.flatMap((row) => attributesOf(row).map(([name]) => name)) : [];
    const facts = [["vendor", read(product, "brands")], ...attributesOf(product)];
    const shown = facts.filter(([name, value]) => value && !chosen.includes(name));
    const isPublished = read(product, "published") === "1";
    const isHidden = read(product, "visibility in catalog") === "hidden";
    if (isPublished && isHidden) leaveOut("products that are hidden in the catalogue become drafts", product);
    // WooCommerce writes a line break as \n.
    const texts = ["short description", "description"].map((column) => read(product, column).replaceAll("\\n", "\n"));
    const fields = {
      title: decodeCharacters(read(product, "name")),
      description: texts.map(htmlToText).filter(Boolean).join("\n\n"),
      status: isPublished && !isHidden ? "published" : "draft",
      tags: unique(listIn(product, "tags")),
      categories: listIn(product, "categories")
        .filter((path) => path !== "Uncategorized")
        .map(pathOf),
      images: listIn(product, "images").map((url) => ({ url })),
      weight_g: weightOf(product, "weight (kg)", 1000),
      metadata: shown.length > 0 ? { public: Object.fromEntries(shown) } : undefined,
      allow_backorder: bought.every((row) => /^(1|notify)$/.test(read(row, "backorders allowed?"))),
    };
    return productOf(fields, bought.map(readSellable));
  },
};

function readSellable(row) {
  const attributes = typeOf(row) === "variation" ? attributesOf(row) : [];
  const options = attributes.filter(([, value]) => value !== "");
  for (const [name, value] of attributes) if (value === "") leaveOut(`the choice of any ${name}`, row);
  const regular = amount(row, "regular price");
  return {
    options: Object.fromEntries(options),
    title: attributes.length > 0 && options.length === 0 ? read(row, "name") : undefined,
    sku: read(row, "sku") || undefined,
    ...prices((isOnSale(row) ? amount(row, "sale price") : undefined) ?? regular, regular),
    stock: wooStock(row),
    weight_g: weightOf(row, "weight (kg)", 1000),
    images: listIn(row, "images").map((url) => ({ url })),
  };
}

function isOnSale(row) {
  const today = new Date().toISOString().slice(0, 10);
  const [starts, ends] = ["starts", "ends"].map((which) => read(row, `date sale price ${which}`).slice(0, 10));
  if (starts > today || (ends !== "" && ends < today)) return false;
  if (ends !== "") leaveOut("the end of a sale", row);
  return true;
}

function wooStock(row) {
  const cell = read(row, "stock");
  if (cell === "") return read(row, "in stock?") === "0" ? 0 : null;
  if (cell !== "parent") return stock(row, "stock");
  return leaveOut("shared stock of variations is not counted until you set the stock of each", row);
}

/** Returns names and values of the attributes. A variation has one value, or an empty text for any value. */
function attributesOf(row) {
  const numbers = [...row.cells.keys()].flatMap((column) => /^attribute (\d+) name$/.exec(column)?.[1] ?? []);
  const pairs = numbers.map((number) => [
    decodeCharacters(read(row, `attribute ${number} name`)),
    listIn(row, `attribute ${number} value(s)`).join(", "),
  ]);
  return pairs.filter(([name]) => name !== "");
}

/** Splits texts at commas; a comma in a text has a backslash before it. */
function listIn(row, column) {
  const texts = read(row, column).split(/(?<!\\),/);
  return texts.map((text) => decodeCharacters(text.replaceAll("\\,", ",").trim())).filter(Boolean);
}

/** Returns a line for each product. Reads the whole file first, because rows of a product can be anywhere. */
function convert(text) {
  if (text.includes("\uFFFD")) throw new FileError("The file is not valid UTF-8. Save it as UTF-8 and try again.");
  const [header = { cells: [] }, ...rows] = readRows(text);
  const names = header.cells.map((name) => name.trim());
  const columnsOf = (format) => names.map((name) => format.rename(name.toLowerCase()));
  const format = [shopify, wooCommerce].find((one) => one.needs.every((name) => columnsOf(one).includes(name)));
  if (!format) throw new FileError("The file is not a product export of Shopify or WooCommerce with English columns.");
  const columns = columnsOf(format);
  const groups = new Map();
  for (const { line, cells } of rows) {
    if (cells.length !== names.length)
      throw new FileError(`line ${line} has ${cells.length} cells, but the header has ${names.length} columns.`);
    const row = { line, cells: new Map(columns.map((column, index) => [column, cells[index]])) };
    const key = format.keyOf(row);
    if (key === undefined) continue;
    addTo(groups, key, row);
    const unused = names.filter((_, index) => cells[index].trim() && !format.isUsed(columns[index]));
    for (const name of unused) report.columns.add(name);
  }
  return [...groups.values()].map((group) => {
    try {
      const product = format.readProduct(group);
      return product ? `${JSON.stringify(product)}\n` : "";
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      report.errors.push(error.message);
      return "";
    }
  });
}

async function main(file) {
  const { readFile } = await import("node:fs/promises");
  try {
    if (!file) throw new FileError("Name the export: node convert.js products_export.csv > products.ndjson");
    const text = await readFile(file, "utf8");
    process.stdout.write(convert(text.replace(/^\uFEFF/, "")).join(""));
    const { columns, reasons, errors } = report;
    if (columns.size > 0) console.error(`not imported, because there is no such field: ${[...columns].join(", ")}`);
    for (const [reason, lines] of reasons) console.error(`not imported, line ${lines.join(", ")}: ${reason}`);
    for (const message of errors) console.error(message);
    process.exitCode = Math.min(errors.length, 1);
  } catch (error) {
    if (!(error instanceof FileError) && !error.syscall) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}

void main(process.argv[2]);
