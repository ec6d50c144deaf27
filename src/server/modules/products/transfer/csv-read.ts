import { CsvError, parse } from "csv-parse";
import { type AppError, validationFailed } from "../../../errors.ts";
import { readGuarded } from "../../../values/csv-injection.ts";
import { CellError } from "./cell-error.ts";
import { type CellStyle, type CsvColumn, csvColumns, findColumn } from "./csv-columns.ts";
import { type ImportItem, UnreadableInput } from "./import-item.ts";
import { countBreaks, findBadText, longestRecord } from "./import-text.ts";

/** What may stand between the cells of a line. */
export const delimiters = [",", ";", "\t"] as const;

interface Row {
  line: number;
  cells: string[];
  /** Why neither this row nor what follows can be read. */
  fault?: Error;
}

/**
 * The products of a CSV file with a header. Rows that follow each other and name the same product, by its id, slug or
 * SKU, are one product with a variant each.
 * @param delimiter what separates cells; found in the header unless given.
 * @throws validationFailed for a header that is missing or names a column that is unknown or twice; UnreadableInput for quotes
 * that do not pair up.
 */
export async function* readCsv(text: AsyncIterable<string>, delimiter?: string): AsyncGenerator<ImportItem> {
  const [header, whole] = await peekHeader(text);
  const separator = delimiter ?? findDelimiter(header);
  const style: CellStyle = { decimalComma: separator === ";" };
  let columns: CsvColumn[] | undefined;
  let product: { item: ImportItem; cells: string[] } | undefined;
  for await (const row of readRows(whole, separator)) {
    if (row.fault) {
      // A product with variants may go on there: half of it is not to be written.
      if (product?.item.variants.length === 0) yield product.item;
      throw row.fault;
    }
    if (columns === undefined) {
      const bad = findBadText(row.cells, row.line);
      if (bad) throw new UnreadableInput(bad.line, bad.message);
      columns = readHeader(row.cells);
      continue;
    }
    if (row.cells.every((cell) => cell === "")) continue;
    if (product && isSameProduct(columns, product.cells, row.cells) && hasVariant(columns, row.cells)) {
      addVariant(product.item, columns, row, style, product.cells);
      continue;
    }
    if (product) yield product.item;
    product = { item: readItem(columns, row, style), cells: row.cells };
  }
  if (columns === undefined) throw validationFailed("The file is empty: its first line must name its columns.");
  if (product) yield product.item;
}

async function peekHeader(text: AsyncIterable<string>): Promise<[string, AsyncGenerator<string>]> {
  const iterator = text[Symbol.asyncIterator]();
  let start = "";
  while (!/[\r\n]/.test(start) && start.length < longestRecord) {
    const { value, done } = await iterator.next();
    if (done) break;
    start += value;
  }
  async function* whole() {
    if (start !== "") yield start;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return [start.split(/[\r\n]/, 1)[0] ?? "", whole()];
}

function findDelimiter(header: string): string {
  const counts = delimiters.map((delimiter) => header.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}

async function* readRows(text: AsyncGenerator<string>, delimiter: string): AsyncGenerator<Row> {
  let records: string[][] = [];
  let failure: Error | null | undefined;
  // Records are taken as they are found: left to the stream, those before a fault would be lost with it.
  const keep = (record: string[]) => void records.push(record);
  const parser = parse({
    delimiter,
    relax_column_count: true,
    max_record_size: longestRecord,
    on_record: keep as () => undefined,
  });
  parser.on("error", (error) => {
    failure = error;
  });
  parser.resume();
  let line = 1;
  async function* taken() {
    const found = records;
    records = [];
    for (const cells of found) {
      const row = { line, cells };
      line += 1;
      for (const cell of cells) line += countBreaks(cell);
      yield row;
    }
    if (!failure) return;
    const fault = failure instanceof CsvError ? new UnreadableInput(line, explainCsv(failure)) : failure;
    yield { line, cells: [], fault };
  }
  try {
    for await (const piece of text) {
      failure ??= await settle((done) => parser.write(piece, done));
      yield* taken();
    }
    failure ??= await settle((done) => parser.end(done));
    yield* taken();
  } finally {
    parser.destroy();
  }
}

function settle(act: (done: (error?: Error | null) => void) => void): Promise<Error | null | undefined> {
  return new Promise((resolve) => act(resolve));
}

function explainCsv({ code }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "has a quote that is never closed";
  if (code === "CSV_MAX_RECORD_SIZE") return "is longer than any product can be; a quote may not be closed";
  return 'has a quote in the wrong place; a quote within a cell is written twice, and the cell in quotes: "a ""b"""';
}

function readHeader(names: string[]): CsvColumn[] {
  const columns = names.map((name) => {
    const column = findColumn(name);
    if (column) return column;
    const known = `${csvColumns.map(({ name }) => name).join(", ")}, option:<name>`;
    const shown = JSON.stringify(name.trim().slice(0, 64));
    throw headerFault(`${shown} is no column of products. The first line names the columns, out of ${known}`);
  });
  const twice = columns.find((column, index) => columns.findIndex(({ name }) => name === column.name) !== index);
  if (twice) throw headerFault(`the column ${JSON.stringify(twice.name)} stands there twice`);
  return columns;
}

function headerFault(message: string): AppError {
  return validationFailed(`line 1: ${message}.`);
}

function readItem(columns: CsvColumn[], row: Row, style: CellStyle): ImportItem {
  const item: ImportItem = { line: row.line, document: {}, variants: [], faults: [], isTable: true };
  if (!checkRow(item, columns, row)) return item;
  readCells(item, item.document, columns, row, style, "product");
  if (hasVariant(columns, row.cells)) {
    const document = {};
    readCells(item, document, columns, row, style, "variant");
    item.variants.push({ line: row.line, document });
  }
  return item;
}

/** One more row of the same product: what it says of the product is what the first row says, or nothing. */
function addVariant(item: ImportItem, columns: CsvColumn[], row: Row, style: CellStyle, first: string[]): void {
  if (!checkRow(item, columns, row)) return;
  columns.forEach(({ of, name }, index) => {
    const cell = row.cells[index];
    if (of === "variant" || cell === "" || cell === first[index]) return;
    const message = `says something else than line ${item.line}, where this product begins; leave it empty here`;
    item.faults.push({ line: row.line, field: name, message });
  });
  const document = {};
  readCells(item, document, columns, row, style, "variant");
  item.variants.push({ line: row.line, document });
}

function checkRow(item: ImportItem, columns: CsvColumn[], { line, cells }: Row): boolean {
  const bad = findBadText(cells, line);
  if (bad) item.faults.push(bad);
  if (bad || cells.length === columns.length) return !bad;
  const message = `has ${cells.length} cells, where the header has ${columns.length}`;
  item.faults.push({ line, field: null, message });
  return false;
}

function readCells(
  item: ImportItem,
  document: Record<string, unknown>,
  columns: CsvColumn[],
  row: Row,
  style: CellStyle,
  of: CsvColumn["of"],
): void {
  columns.forEach((column, index) => {
    if (column.of !== of) return;
    try {
      const value = column.read(readGuarded(row.cells[index] as string), style);
      if (value !== undefined) setField(document, column.field, value);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      item.faults.push({ line: row.line, field: column.name, message: error.message });
    }
  });
}

function setField(document: Record<string, unknown>, field: string, value: unknown): void {
  const dot = field.indexOf(".");
  if (dot === -1) document[field] = value;
  else {
    const group = field.slice(0, dot);
    document[group] = { ...(document[group] as object | undefined), [field.slice(dot + 1)]: value };
  }
}

function hasVariant(columns: CsvColumn[], cells: string[]): boolean {
  return columns.some(({ of }, index) => of === "variant" && (cells[index] ?? "") !== "");
}

/** Whether two rows are of one product: the first of id, slug and SKU that both of them give is the same. */
function isSameProduct(columns: CsvColumn[], first: string[], row: string[]): boolean {
  for (const name of ["id", "slug", "sku"]) {
    const index = columns.findIndex((column) => column.name === name);
    if (first[index] && row[index]) return first[index] === row[index];
  }
  return false;
}
