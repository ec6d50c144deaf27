import { attempt } from "../../../../values/attempt.ts";
import { readGuarded } from "../../../../values/csv-injection.ts";
import { readNumber } from "../csv-columns.ts";
import type { Fields } from "../import-item.ts";
import { checkRow, type ImportItem, type Row, type RowError } from "../import-item.ts";

export interface MigrationReport {
  /** The system whose export the file is; null for files with this service's own columns. */
  source: ShopFormat["source"] | null;
  left_out: { columns: string[]; rows: { reason: string; lines: number[] }[] };
}

export const newReport = (): MigrationReport => ({ source: null, left_out: { columns: [], rows: [] } });

export interface ShopFormat {
  source: "shopify" | "woocommerce";
  needs: string[];
  aliases: Record<string, string>;
  isUsed: (column: string) => boolean;
  keyOf: (table: ShopTable, row: Row) => string | undefined;
  /** Returns the product of these rows and its variants; undefined if it is not imported. */
  readProduct: (
    table: ShopTable,
    rows: Row[],
  ) => { line: number; fields: Fields; sold: ImportItem["variants"]; faults?: RowError[] } | undefined;
}

export type ShopTable = ReturnType<typeof openTable>;

export function columnsOf({ cells }: Row, { aliases }: ShopFormat): string[] {
  return cells.map((cell) => cell.trim().toLowerCase()).map((name) => aliases[name] ?? name);
}

function openTable(header: Row, format: ShopFormat, { left_out }: MigrationReport) {
  const { cells } = header;
  const columns = columnsOf(header, format);
  const unused = new Set(columns.flatMap((name, index) => (format.isUsed(name) ? [] : [index])));
  const read = (row: Row, column: string) => readGuarded(row.cells[columns.indexOf(column)]?.trim() ?? "");
  const leaveOut = (reason: string, { line }: Row): undefined => {
    const found = left_out.rows.find((one) => one.reason === reason);
    if (found) found.lines.push(line);
    else left_out.rows.push({ reason, lines: [line] });
  };
  /** Parses a price or stock. Any other cell remains a text, which validation refuses. */
  const amount = (row: Row, column: string): unknown => {
    const text = read(row, column);
    if (text === "" || /,\d{3}$/.test(text)) return text || undefined;
    return attempt(() => readNumber(text, text.includes(","))) ?? text;
  };
  const stock = (row: Row, column: string): unknown => {
    const value = amount(row, column);
    // Negative stock means that more was ordered than there is.
    return Number(value) < 0 ? (leaveOut("negative stock becomes 0", row) ?? 0) : value;
  };
  const recordUnused = (row: Row) => {
    for (const index of unused) {
      if (row.cells[index]?.trim() && unused.delete(index)) left_out.columns.push((cells[index] as string).trim());
    }
  };
  return { columns, read, amount, stock, leaveOut, recordUnused };
}

/** Yields another system's products. Reads the whole file first, because rows of a product can be anywhere. */
export async function* readShop(header: Row, rows: AsyncIterable<Row>, format: ShopFormat, report: MigrationReport) {
  report.source = format.source;
  const table = openTable(header, format, report);
  const groups = new Map<string, { rows: Row[]; faults: RowError[] }>();
  for await (const row of rows) {
    if (row.cells.every((cell) => cell === "")) continue;
    const key = format.keyOf(table, row);
    if (key === undefined) continue;
    const fault = checkRow(row, header.cells.length);
    const group = groups.get(key) ?? { rows: [], faults: [] };
    group.rows.push(row);
    if (fault) group.faults.push(fault);
    else table.recordUnused(row);
    groups.set(key, group);
  }
  for (const { rows, faults } of groups.values()) {
    const [{ line }] = rows as [Row];
    const product = faults.length > 0 ? { line, fields: {}, sold: [] } : format.readProduct(table, rows);
    if (product) yield itemOf(product.line, product.fields, product.sold, product.faults ?? faults);
  }
}

/** Builds a product with its variants. A single variant without options becomes the product itself. */
function itemOf(line: number, fields: Fields, sold: ImportItem["variants"], faults: RowError[]): ImportItem {
  const { options = {}, title, price, compare_at_price, ...whole } = sold[0]?.document ?? {};
  const document = { ...fields, price, compare_at_price };
  const isWhole = sold.length === 1 && title === undefined && Object.keys(options as Fields).length === 0;
  if (isWhole) return { line, document: { ...whole, ...document }, variants: [], faults, isCsv: true };
  const variants = sold.map(({ line, document: own }) => {
    const isOwn = own.price !== price || own.compare_at_price !== compare_at_price;
    return { line, document: { ...own, has_own_price: isOwn } };
  });
  return { line, document, variants, faults, isCsv: true };
}

export function prices(price: unknown, former: unknown): Fields {
  return { price, compare_at_price: Number(former) > Number(price) ? former : null };
}

export function listOf(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.trim()).filter(Boolean))];
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
export function decodeCharacters(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    const code = Number(decimal ?? `0x${hex ?? 0}`);
    return (code > 0 ? String.fromCodePoint(code).toWellFormed() : characters.get(name)) ?? whole;
  });
}

const token = /<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1\s*>|$)|<\/?([a-z][a-z\d]*)[^<>]*>/gis;

export function htmlToText(html: string): string {
  const source = /<(p|h[1-6]|ul|ol|table|blockquote|div|li|tr|br|hr)\b/i.test(html) ? html.replace(/\s/g, " ") : html;
  const marked = source.replace(token, (tag, _, name = "") => {
    if (/^(p|h[1-6]|ul|ol|table|blockquote)$/i.test(name)) return "\n\n";
    if (/^(div|li|tr)$/i.test(name)) return /^<li\b/i.test(tag) ? "\u2028- " : "\u2028";
    return /^[bh]r$/i.test(name) ? "\n" : /^t[dh]$/i.test(name) ? " " : "";
  });
  // Consecutive elements without text between them start only one line.
  const lines = decodeCharacters(marked.replace(/\u2028[\u2028 ]*/g, "\n"))
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim());
  return lines
    .filter((line, index) => line !== "" || lines[index - 1] !== "")
    .join("\n")
    .trim();
}
