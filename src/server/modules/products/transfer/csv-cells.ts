import { parseExactJson } from "../../../values/exact-json.ts";
import { CellError } from "./cell-error.ts";

/** The items of a cell: a JSON array, or texts between bars. Errors: CellError. */
export function readList(cell: string): unknown[] {
  if (cell.trim() === "") return [];
  if (!cell.trimStart().startsWith("[")) return cell.split("|").map((item) => item.trim());
  const list = readJson(cell);
  if (!Array.isArray(list)) throw new CellError("must be a list, such as red|blue");
  return list;
}

/** Texts between bars, where they read back the same; else JSON. */
export function writeList(items: readonly unknown[]): string {
  if (items.length === 0) return "";
  const isPlain = items.every((item) => typeof item === "string");
  return isPlain ? writeShortly(items.join("|"), readList, items) : JSON.stringify(items);
}

/** The short form of a value where a reader of the cell gets the same value from it; else JSON. */
export function writeShortly(cell: string, read: (cell: string) => unknown, value: unknown): string {
  try {
    if (JSON.stringify(read(cell)) === JSON.stringify(value)) return cell;
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
  }
  return JSON.stringify(value);
}

/** The JSON object of a cell; an empty cell is an empty object. Errors: CellError. */
export function readObject(cell: string): unknown {
  if (cell.trim() === "") return {};
  const value = readJson(cell);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CellError('must be a JSON object, such as {"colour": "red"}');
  }
  return value;
}

/** The object as JSON; an empty one as an empty cell. */
export function writeObject(value: object): string {
  return Object.keys(value).length === 0 ? "" : JSON.stringify(value);
}

function readJson(cell: string): unknown {
  try {
    return parseExactJson(cell);
  } catch {
    throw new CellError("is no JSON");
  }
}
