import { AppError, validationFailed } from "../errors.ts";

/** The error for a text with U+FFFD, the character that a decoder writes for bytes that are not UTF-8. */
export const notUtf8 = "is not valid UTF-8. Save the file as UTF-8 and try again";

/** A row of a CSV file: its line number, and its trimmed cells by column. An empty cell is undefined. */
export interface TableRow {
  line: number;
  cells: Partial<Record<string, string>>;
  /** Returns a cell as a number: NaN for another text, null for an empty cell. */
  number: (column: string) => number | null;
}

/** Returns the delimiter that is most frequent in the first line of a CSV file. */
export function detectDelimiter(text: string): string {
  const [header = ""] = text.split(/[\r\n]/, 1);
  return [",", ";", "\t"].toSorted((a, b) => header.split(b).length - header.split(a).length)[0] as string;
}

/**
 * Reads a small CSV file whose first line names its columns. Commas, semicolons or tabs separate the cells. If they are
 * semicolons, numbers can have a decimal comma.
 * @param known whether a column of this name is allowed.
 * @throws validationFailed with the line, for a missing, repeated or unknown column, a wrong number of cells, or broken
 * quotes.
 */
export async function readCsvTable(
  text: string,
  required: readonly string[],
  known: (column: string) => boolean,
): Promise<TableRow[]> {
  const { CsvError, parse } = await import("csv-parse/sync");
  const delimiter = detectDelimiter(text);
  const options = { delimiter, bom: true, trim: true, info: true, skip_empty_lines: true } as const;
  try {
    const records = parse(text, options) as unknown as { record: string[]; info: { lines: number } }[];
    const names = records.shift()?.record;
    if (!names) throw validationFailed("The file is empty. Its first line must name the columns.");
    if (names.some(isBroken)) throw validationFailed(`line 1: ${notUtf8}.`);
    checkHeader(names, required, known);
    return records.map(({ record, info }) => {
      const broken = names[record.findIndex(isBroken)];
      if (broken) throw validationFailed(`line ${info.lines}, ${broken}: ${notUtf8}. Nothing was changed.`);
      const filled = names.map((name, index) => [name, record[index]]).filter(([, cell]) => cell !== "");
      const cells: TableRow["cells"] = Object.fromEntries(filled);
      const number = (column: string) => readNumber(cells[column], delimiter === ";");
      return { line: info.lines, cells, number };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const counts = /expect (\d+), got (\d+)/.exec(error.message);
    const fault = counts
      ? `has ${counts[2]} cells, but line 1 has ${counts[1]}`
      : error.message.split(/ (?:at|on) line /)[0];
    throw validationFailed(`line ${error.lines ?? "?"}: ${fault}.`);
  }
}

function isBroken(cell: string): boolean {
  return cell.includes("\uFFFD");
}

function checkHeader(names: readonly string[], required: readonly string[], known: (column: string) => boolean): void {
  const missing = required.find((name) => !names.includes(name));
  if (missing !== undefined) throw validationFailed(`line 1: the column ${JSON.stringify(missing)} is missing.`);
  const bad = names.find((name, index) => !known(name) || names.indexOf(name) !== index);
  if (bad === undefined) return;
  throw validationFailed(`line 1: the column ${JSON.stringify(bad.slice(0, 64))} is unknown or repeated.`);
}

function readNumber(cell: string | undefined, decimalComma: boolean): number | null {
  if (cell === undefined) return null;
  // In a file with decimal commas, 1.500 may mean 1500, so it is refused.
  if (decimalComma && /\.\d{3}$/.test(cell)) return Number.NaN;
  return Number(decimalComma ? cell.replace(",", ".") : cell);
}

/** Returns an error that names the cell instead of a field such as `rates.3.price`. Returns other errors unchanged. */
export function locateInTable(error: unknown, rows: readonly TableRow[]): unknown {
  const fault = error instanceof AppError ? error.details?.[0] : undefined;
  const [, at, column = ""] = /^\w+\.(\d+)\.?(.*)$/.exec(fault?.field ?? "") ?? [];
  const row = rows[Number(at)];
  if (fault === undefined || row === undefined) return error;
  const name = column.replace(/^names\./, "name_").replace(/\.\d+$/, "");
  const value = row.cells[name];
  const shown = value === undefined ? "" : ` ${JSON.stringify(value.slice(0, 64))}`;
  const where = name === "" ? `line ${row.line}` : `line ${row.line}, ${name}`;
  return validationFailed(`${where}:${shown} ${fault.message}. Nothing was changed.`);
}
