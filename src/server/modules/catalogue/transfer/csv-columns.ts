import { attempt } from "../../../values/attempt.ts";
import { guardFormula, readGuarded } from "../../../values/csv-injection.ts";
import { parseExactJson } from "../../../values/exact-json.ts";
import { ambiguousAmount } from "../../../values/money.ts";
import { isId } from "../../../values/stamps.ts";
import type { Image } from "../products/images.ts";

/** A cell with this text removes a value; an empty cell keeps it. The text `-` itself is written as `'-`. */
export const noValue = "-";

/** A cell that cannot be read. The message is appended to the column's name. */
export class CellError extends Error {}

interface CellFormat {
  /** With `decimalComma`, 19,99 is a number. Errors: CellError. */
  read: (cell: string, decimalComma: boolean) => unknown;
  /** Returns a short text and its value. It is used if `read` turns the text into this value again; else JSON is used. */
  write?: (value: never) => [short: string, value: unknown];
  /** The value that a hyphen stands for; undefined if the field cannot be empty. */
  none?: unknown;
}

export interface CsvColumn extends CellFormat {
  name: string;
  field: string;
  /** If `field` is `options`: the name of the option whose value the cell contains. */
  option?: string;
  of: "product" | "variant";
}

const text: CellFormat = { read: (cell) => cell };
const word: CellFormat = { read: readWord };
const number: CellFormat = { read: readNumber };
const integer: CellFormat = { read: (cell, comma) => readNumber(cell, comma, "whole number, such as 20") };
const boolean: CellFormat = { read: readBoolean };
const list: CellFormat = { read: readList, write: (items: unknown[]) => [items.join("|"), items], none: [] };
const images: CellFormat = { read: readImages, write: writeImages, none: [] };
const object: CellFormat = { read: readObject, write: (value: object) => ["", value], none: {} };
const options: CellFormat = { read: readOptions, write: writeOptions, none: {} };
const optional = (format: CellFormat): CellFormat => ({ ...format, none: null });

const productFields: Record<string, CellFormat> = {
  id: word,
  sku: optional(word),
  title: text,
  slug: word,
  description: optional(text),
  status: word,
  price: number,
  compare_at_price: optional(number),
  currency: word,
  stock: optional(integer),
  allow_backorder: boolean,
  weight_g: optional(integer),
  requires_shipping: boolean,
  tax_class: word,
  tags: list,
  categories: list,
  images,
  metadata: object,
  translations: object,
  lang: word,
};

const variantFields: Record<string, CellFormat> = {
  id: word,
  sku: optional(word),
  title: text,
  options,
  price: optional(number),
  compare_at_price: optional(number),
  stock: optional(integer),
  weight_g: optional(integer),
  images,
  position: integer,
};

const columnsOf = (of: CsvColumn["of"], prefix: string, fields: Record<string, CellFormat>): CsvColumn[] =>
  Object.entries(fields).map(([field, format]) => ({ name: prefix + field, field, of, ...format }));

export const csvColumns: readonly CsvColumn[] = [
  ...columnsOf("product", "", productFields),
  ...columnsOf("variant", "variant_", variantFields),
];

/** Returns the column with a name, such as `option:size` for a variant's option `size`; undefined if there is none. */
export function findColumn(given: string): CsvColumn | undefined {
  const name = given.trim();
  const [, option] = /^option:\s*(.+)$/is.exec(name) ?? [];
  if (option) return { name: `option:${option}`, field: "options", option, of: "variant", ...optional(text) };
  return csvColumns.find((column) => column.name === name.toLowerCase());
}

/** Returns the value of a cell; undefined for an empty cell, which changes nothing. Errors: CellError. */
export function readCell({ read, none }: CsvColumn, cell: string, decimalComma: boolean): unknown {
  if (cell.trim() === "") return undefined;
  if (cell !== noValue) return read(readGuarded(cell), decimalComma);
  if (none === undefined) throw new CellError("cannot be removed. Leave the cell empty to keep the value");
  return none;
}

export function writeCell({ read, write, none }: CsvColumn, value: unknown): string {
  if (value === undefined) return "";
  if (none !== undefined && (value === "" || Bun.deepEquals(value, none, true))) return noValue;
  let cell = String(value);
  if (write) {
    const [short, whole] = write(value as never);
    const json = JSON.stringify(whole);
    cell = attempt(() => JSON.stringify(read(short, false))) === json ? short : json;
  }
  // A negative number is not a formula, so it gets no apostrophe.
  return /^-?\d+(\.\d+)?$/.test(cell) ? cell : guardFormula(cell);
}

/** Returns a cell without spaces at its ends. Errors: CellError for a number that a spreadsheet has shortened. */
function readWord(cell: string): string {
  const given = cell.trim();
  if (!/^\d([.,]\d{1,15})?E\+\d\d$/i.test(given)) return given;
  throw new CellError(
    `is ${given}, a number that the spreadsheet has shortened. Format the column as text and enter the whole number`,
  );
}

export function readNumber(cell: string, decimalComma: boolean, needed = "number, such as 19.99"): unknown {
  const given = cell.trim();
  const ambiguous = decimalComma ? ambiguousAmount(given, true) : undefined;
  if (ambiguous !== undefined) throw new CellError(ambiguous);
  const plain = (decimalComma ? given.replace(",", ".") : given).replace(/^(-?)0+(?=\d)/, "$1");
  if (!/^-?\d+(\.\d+)?$/.test(plain)) throw new CellError(`must be a ${needed}`);
  // A number with more digits than a double can represent becomes an InexactNumber, which validation rejects.
  return parseExactJson(plain);
}

function readBoolean(cell: string): boolean {
  const given = cell.trim().toLowerCase();
  if (["true", "yes", "1"].includes(given)) return true;
  if (["false", "no", "0"].includes(given)) return false;
  throw new CellError("must be true or false");
}

function readJson(cell: string): unknown {
  const value = attempt(() => parseExactJson(cell));
  if (value === undefined) throw new CellError("is not valid JSON");
  return value;
}

function readList(cell: string): unknown[] {
  if (!cell.trimStart().startsWith("[")) return cell.split("|").map((item) => item.trim());
  const items = readJson(cell);
  if (!Array.isArray(items)) throw new CellError("must be a list, such as red|blue");
  return items;
}

function readObject(cell: string): unknown {
  const value = readJson(cell);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CellError('must be a JSON object, such as {"colour": "red"}');
}

/** Reads a list of addresses, paths and ids of uploads. Errors: CellError for an item with several addresses. */
function readImages(cell: string): unknown {
  const items = readList(cell);
  const isList = cell.trimStart().startsWith("[");
  if (!isList && items.some((url) => /^https?:.*\s|[\s,;]https?:/i.test(String(url))))
    throw new CellError("must be addresses without spaces, with | between them");
  const read = (text: string) => (isId("med", text) ? { media_id: text } : { url: text });
  return items.map((image) => (typeof image === "string" ? read(image) : image));
}

function writeImages(value: Image[]): [string, unknown] {
  const all: Partial<Image>[] = value.map(({ media_id, url, alt }) => ({
    ...(media_id === undefined ? { url } : { media_id }),
    ...(alt !== "" && { alt }),
  }));
  return [all.map(({ media_id, url }) => media_id ?? url).join("|"), all];
}

function readOptions(cell: string): unknown {
  if (cell.trimStart().startsWith("{")) return readObject(cell);
  const pairs = cell.split("|").map((pair) => {
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined) throw new CellError('must have the form size=M|colour=red or {"size": "M"}');
    return [name.trim(), value?.trim()];
  });
  return Object.fromEntries(pairs);
}

function writeOptions(value: Record<string, string>): [string, unknown] {
  const pairs = Object.entries(value).map(([name, choice]) => `${name}=${choice}`);
  return [pairs.join("|"), value];
}
