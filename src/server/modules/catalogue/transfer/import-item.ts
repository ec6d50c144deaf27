import { validationFailed } from "../../../errors.ts";
import { attempt } from "../../../values/attempt.ts";
import { notUtf8 } from "../../../values/csv-table.ts";
import { parseExactJson } from "../../../values/exact-json.ts";

export type Fields = Record<string, unknown>;

/** One product of an import file: one NDJSON line, or one CSV row and the rows that add variants to it. */
export interface ImportItem {
  line: number;
  /** The given fields, named as in the API. They are validated when the product is written. */
  document: Fields;
  variants: { line: number; document: Fields }[];
  /** Errors found while reading. An item with errors is not written. */
  faults: RowError[];
  /** In CSV, null is the same as an empty text, and errors name columns instead of paths in the document. */
  isCsv: boolean;
  /** Whether the rest of the file cannot be read. */
  isLast?: boolean;
}

/** An error in a line. `field` is the column, or the path in the document; null for the whole line. */
export interface RowError {
  line: number;
  field: string | null;
  message: string;
}

export const rowsTogether =
  "Put the rows of a product together, the one with the title first, and repeat its title, id, slug or SKU in each";

export function unreadableItem({ line, message }: { line: number; message: string }, isCsv: boolean): ImportItem {
  return { line, document: {}, variants: [], faults: [{ line, field: null, message }], isCsv, isLast: true };
}

/** Maximum characters of a line, or CSV record, of an import file; more than any product can have. */
export const maxRecordLength = 4 * 1024 * 1024;

/** Decodes a file piece by piece. Bytes that are not UTF-8 become U+FFFD, whose line `findBadText` reports. */
export async function* decodeText(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of input) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

export function findBadText(texts: readonly string[], line: number): RowError | undefined {
  if (!texts.some((text) => text.includes("\uFFFD"))) return undefined;
  return { line, field: null, message: notUtf8 };
}

const computed = /^(price_minor|available|(likes|views)_count|version|(created|updated|published)_at)$/;

export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  let rest = "";
  let line = 0;
  let isEmpty = true;
  for await (const piece of text) {
    const lines = piece.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() as string;
    for (const one of lines) {
      line++;
      if (one.trim() === "") continue;
      isEmpty = false;
      yield readLine(one, line);
    }
    if (rest.length > maxRecordLength) return yield unreadableItem({ line: line + 1, message: "is too long" }, false);
  }
  if (rest.trim() !== "") yield readLine(rest, line + 1);
  else if (isEmpty) throw validationFailed("The file is empty. Each line must be a product in JSON.");
}

function readLine(text: string, line: number): ImportItem {
  const item: ImportItem = { line, document: {}, variants: [], faults: [], isCsv: false };
  const fail = (field: string | null, message: string) => ({ ...item, faults: [{ line, field, message }] });
  const bad = findBadText([text], line);
  if (bad) return { ...item, faults: [bad] };
  const value = attempt(() => parseExactJson(text));
  if (value === undefined) return fail(null, "is not valid JSON");
  if (!isObject(value)) return fail(null, "must be a JSON object");
  const { variants = [], ...document } = withoutComputed(value);
  if (!Array.isArray(variants) || !variants.every(isObject)) return fail("variants", "must be a list of objects");
  return { ...item, document, variants: variants.map((variant) => ({ line, document: withoutComputed(variant) })) };
}

function withoutComputed(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !computed.test(name)));
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
