import { CsvError, parse } from "csv-parse";
import { validationFailed } from "../../../errors.ts";
import { detectDelimiter } from "../../../values/csv-table.ts";
import { CellError, type CsvColumn, csvColumns, findColumn, noValue, readCell } from "./csv-columns.ts";
import type { Fields, ImportItem, RowError } from "./import-item.ts";
import { findBadText, maxRecordLength, unreadableItem } from "./import-item.ts";

/** Consecutive rows are one product if they have the same value in the first of these columns that both rows fill. */
const keyColumns = ["id", "slug", "sku", "title"];

type Row = { line: number; cells: string[] };
type Table = { columns: CsvColumn[]; decimalComma: boolean };

/** Yields the products of a CSV file. Errors: validationFailed for an empty file or a bad header. */
export async function* readCsv(text: AsyncGenerator<string>) {
  const [start, whole] = await peekHeader(text);
  const separator = detectDelimiter(start);
  const rows = readRows(whole, separator);
  try {
    const { value: names } = await rows.next();
    if (!names) throw validationFailed("The file is empty. Its first line must name the columns.");
    const bad = findBadText(names.cells, names.line);
    if (bad) {
      yield unreadableItem(bad, true);
      return;
    }
    yield* groupRows({ columns: readHeader(names.cells), decimalComma: separator === ";" }, rows);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield unreadableItem({ line: Number(error.line), message: explainCsv(error) }, true);
  }
}

async function* groupRows(table: Table, rows: AsyncGenerator<Row>): AsyncGenerator<ImportItem> {
  let current: { item: ImportItem; cells: string[] } | undefined;
  try {
    for await (const row of rows) {
      if (row.cells.every((cell) => cell === "")) continue;
      if (current && continuesProduct(table, current.cells, row.cells)) {
        addVariantRow(table, current.item, row, current.cells);
        continue;
      }
      if (current) yield current.item;
      current = { item: readProductRow(table, row), cells: row.cells };
    }
  } catch (error) {
    // A last product with variants is not yielded, because the unreadable row may be one of its variants.
    if (current?.item.variants.length === 0) yield current.item;
    throw error;
  }
  if (current) yield current.item;
}

async function peekHeader(text: AsyncGenerator<string>): Promise<[string, AsyncGenerator<string>]> {
  let start = "";
  for (let piece = ""; !/[\r\n]/.test(piece) && start.length < maxRecordLength; start += piece) {
    const { value, done } = await text.next();
    if (done) break;
    piece = value;
  }
  async function* whole() {
    if (start !== "") yield start;
    yield* text;
  }
  return [start, whole()];
}

/** Yields rows with their line numbers. Throws CsvError at a faulty line, after it has yielded all earlier rows. */
async function* readRows(text: AsyncGenerator<string>, delimiter: string): AsyncGenerator<Row> {
  let records: string[][] = [];
  const parser = parse({
    delimiter,
    relax_column_count: true,
    max_record_size: maxRecordLength,
    // Reading csv-parse as a stream would lose the records that it has buffered before an error.
    on_record: (record: string[]) => void records.push(record),
  });
  let failure: Error | null | undefined;
  parser.on("error", (error) => {
    failure = error;
  });
  parser.resume();
  let line = 1;
  function* parsed() {
    const found = records;
    records = [];
    for (const cells of found) {
      yield { line, cells };
      line += 1 + (cells.join("|").match(/\r\n?|\n/g)?.length ?? 0);
    }
    if (failure) throw Object.assign(failure, { line });
  }
  try {
    for await (const piece of text) {
      failure ??= await new Promise((resolve) => parser.write(piece, resolve));
      yield* parsed();
    }
    failure ??= await new Promise((resolve) => parser.end(resolve));
    yield* parsed();
  } finally {
    parser.destroy();
  }
}

function explainCsv({ code }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "has a quote that is never closed";
  if (code === "CSV_MAX_RECORD_SIZE") return "is too long. Check for a quote that is never closed";
  return 'has a misplaced quote. Put the cell in quotes and double the quotes inside it: "a ""b"""';
}

function readHeader(names: string[]): CsvColumn[] {
  const columns = new Map<string, CsvColumn>();
  for (const given of names) {
    const column = findColumn(given);
    const known = csvColumns.map(({ name }) => name).join(", ");
    const unknown = JSON.stringify(given.trim().slice(0, 64));
    if (!column) throw validationFailed(`line 1: unknown column ${unknown}. Columns: ${known}, option:<name>.`);
    if (columns.has(column.name))
      throw validationFailed(`line 1: the column ${JSON.stringify(column.name)} is repeated.`);
    columns.set(column.name, column);
  }
  return [...columns.values()];
}

function checkRow({ line, cells }: Row, columns: number): RowError | undefined {
  const bad = findBadText(cells, line);
  if (bad || cells.length === columns) return bad;
  return { line, field: null, message: `has ${cells.length} cells, but the header has ${columns} columns` };
}

function readProductRow(table: Table, row: Row): ImportItem {
  const item: ImportItem = { line: row.line, document: {}, variants: [], faults: [], isCsv: true };
  const fault = checkRow(row, table.columns.length);
  if (fault) return { ...item, faults: [fault] };
  item.document = readCells(table, row, "product", item.faults);
  if (hasVariant(table, row.cells)) addVariantRow(table, item, row, row.cells);
  return item;
}

/** Adds the variant in a further row of a product. The row's product columns must be empty or as in the first row. */
function addVariantRow(table: Table, item: ImportItem, row: Row, first: string[]): void {
  const fault = checkRow(row, table.columns.length);
  if (fault) return void item.faults.push(fault);
  const at = table.columns.findIndex(({ of }, index) => {
    const cell = row.cells[index];
    return of === "product" && cell !== "" && cell !== first[index];
  });
  if (at !== -1) {
    const message = first[at]
      ? `differs from line ${item.line}, the first row of this product. Write the same in both, or leave it empty here`
      : `is empty in line ${item.line}, the first row of this product. Put the row with the product's fields first`;
    item.faults.push({ line: row.line, field: table.columns[at]?.name ?? null, message });
  }
  item.variants.push({ line: row.line, document: readCells(table, row, "variant", item.faults) });
}

function readCells({ columns, decimalComma }: Table, { line, cells }: Row, of: CsvColumn["of"], faults: RowError[]) {
  const document: Fields = {};
  for (const [index, column] of columns.entries()) {
    if (column.of !== of) continue;
    const { field, option } = column;
    try {
      const value = readCell(column, cells[index] as string, decimalComma);
      if (value === undefined) continue;
      if (option === undefined) document[field] = value;
      else document[field] = { ...(document[field] as object), ...(value !== null && { [option]: value }) };
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      faults.push({ line, field: column.name, message: error.message });
    }
  }
  return document;
}

function hasVariant({ columns }: Table, cells: string[]): boolean {
  return columns.some(({ of }, index) => of === "variant" && (cells[index] ?? "") !== "");
}

function continuesProduct(table: Table, first: string[], row: string[]): boolean {
  if (!hasVariant(table, row)) return false;
  for (const name of keyColumns) {
    const index = table.columns.findIndex((column) => column.name === name);
    const [before, cell] = [first[index], row[index]];
    if (before && cell && before !== noValue && cell !== noValue) return before === cell;
  }
  return false;
}
