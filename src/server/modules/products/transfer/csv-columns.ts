import { parseExactJson } from "../../../values/exact-json.ts";
import { CellError } from "./cell-error.ts";
import { readList, readObject, writeList, writeObject, writeShortly } from "./csv-cells.ts";

/** What a cell says, once read; undefined leaves the field as it is. */
type ReadCell = (text: string, style: CellStyle) => unknown;

/** How the file writes its numbers. */
export interface CellStyle {
  /** 19,99 is a number too: files separated by semicolons come from where decimals have commas. */
  decimalComma: boolean;
}

/** A column of products' files: its name, and how its cells are read and written. */
export interface CsvColumn {
  name: string;
  /** The field of the product, or of its variant, that it holds. */
  field: string;
  of: "product" | "variant";
  read: ReadCell;
  write: (value: unknown) => string;
}

const asText = (value: unknown) => (value === null || value === undefined ? "" : String(value));
const text: Omit<CsvColumn, "name" | "field" | "of"> = { read: (cell) => cell || null, write: asText };
/** Empty stands for "not given": nothing can be cleared there. */
const neededText = { ...text, read: (cell: string) => cell || undefined };
const word = { ...text, read: (cell: string) => cell.trim() || undefined };
const number = { read: readNumber, write: asText };
const neededNumber = {
  ...number,
  read: (cell: string, style: CellStyle) => readNumber(cell, style) ?? undefined,
};
const truth = { read: readTruth, write: asText };

function product(name: string, form: Omit<CsvColumn, "name" | "field" | "of">): CsvColumn {
  return { name, field: name, of: "product", ...form };
}

function variant(field: string, form: Omit<CsvColumn, "name" | "field" | "of">): CsvColumn {
  return { name: `variant_${field}`, field, of: "variant", ...form };
}

/** All columns, in the order in which an export writes them. */
export const csvColumns: readonly CsvColumn[] = [
  product("id", word),
  product("sku", text),
  product("title", neededText),
  product("slug", word),
  product("description", text),
  product("status", word),
  product("price", neededNumber),
  product("compare_at_price", number),
  product("currency", word),
  product("stock", number),
  product("allow_backorder", truth),
  product("tags", {
    read: (cell) => readList(cell),
    write: (tags) => writeList(tags as string[]),
  }),
  product("images", { read: readImages, write: writeImages }),
  product("metadata", { read: (cell) => readObject(cell), write: (value) => writeObject(value as object) }),
  product("translations", { read: (cell) => readObject(cell), write: (value) => writeObject(value as object) }),
  product("lang", word),
  variant("id", word),
  variant("sku", text),
  variant("title", neededText),
  variant("options", { read: readOptions, write: writeOptions }),
  variant("price", neededNumber),
  variant("compare_at_price", number),
  variant("stock", number),
  variant("position", neededNumber),
];

const optionPrefix = "option:";

/** The column of that name; `option:size` is the option `size` of a variant. Undefined for a name that is unknown. */
export function findColumn(name: string): CsvColumn | undefined {
  const wanted = name.trim();
  const known = csvColumns.find((column) => column.name === wanted.toLowerCase());
  if (known || !wanted.toLowerCase().startsWith(optionPrefix)) return known;
  const option = wanted.slice(optionPrefix.length).trim();
  if (option === "") return undefined;
  return { name: `${optionPrefix}${option}`, field: `options.${option}`, of: "variant", ...neededText };
}

function readNumber(cell: string, { decimalComma }: CellStyle): unknown {
  const given = cell.trim();
  if (given === "") return null;
  if (decimalComma && /^-?[1-9]\d{0,2}\.\d{3}$/.test(given)) {
    const [thousands, decimals] = [given.replace(".", ""), given.replace(".", ",")];
    throw new CellError(`may be ${thousands} or ${decimals}, as commas are decimal here; write one of these`);
  }
  const plain = (decimalComma ? given.replace(",", ".") : given).replace(/^(-?)0+(?=\d)/, "$1");
  if (!/^-?\d+(\.\d+)?$/.test(plain)) throw new CellError("must be a number, such as 19.99");
  // More digits than a double holds come back as no number at all, and are refused like it.
  return parseExactJson(plain);
}

function readTruth(cell: string): boolean | undefined {
  const given = cell.trim().toLowerCase();
  if (given === "") return undefined;
  if (["true", "yes", "1"].includes(given)) return true;
  if (["false", "no", "0"].includes(given)) return false;
  throw new CellError("must be true or false");
}

function readImages(cell: string): unknown {
  return readList(cell).map((image) => (typeof image === "string" ? { url: image } : image));
}

function writeImages(value: unknown): string {
  const images = value as { url: string; alt: string }[];
  return writeList(images.every(({ alt }) => alt === "") ? images.map(({ url }) => url) : images);
}

function readOptions(cell: string): unknown {
  if (cell.trim() === "") return undefined;
  if (cell.trimStart().startsWith("{")) return readObject(cell);
  const pairs = cell.split("|").map((pair): [string, string] => {
    const equals = pair.indexOf("=");
    if (equals === -1) throw new CellError('must be such as size=M|colour=red, or {"size": "M"}');
    return [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

function writeOptions(value: unknown): string {
  const options = value as Record<string, string>;
  const cell = Object.entries(options)
    .map(([name, choice]) => `${name}=${choice}`)
    .join("|");
  return Object.keys(options).length === 0 ? "" : writeShortly(cell, readOptions, options);
}
