import { validationFailed } from "../../../errors.ts";
import { parseExactJson } from "../../../values/exact-json.ts";
import type { ImportItem } from "./import-item.ts";
import { UnreadableInput } from "./import-item.ts";
import { findBadText, longestRecord } from "./import-text.ts";

/** What an export tells besides; it is the database's to say, so that a file need not be cleaned of it. */
const toldOnly = [
  "price_minor",
  "available",
  "likes_count",
  "views_count",
  "version",
  "created_at",
  "updated_at",
  "published_at",
];

/**
 * The products of a file with one JSON object a line; empty lines count, and are passed over.
 * @throws validationFailed for a file without any; UnreadableInput for a line that is longer than any product.
 */
export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  let number = 0;
  let isEmpty = true;
  for await (const line of splitLines(text)) {
    number++;
    if (line.trim() === "") continue;
    isEmpty = false;
    yield readLine(line, number);
  }
  if (isEmpty) throw validationFailed("The file is empty: each of its lines must be a product.");
}

async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let line = 1;
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() as string;
    yield* lines;
    line += lines.length;
    if (rest.length > longestRecord) throw new UnreadableInput(line, "is longer than any product can be");
  }
  if (rest !== "") yield rest;
}

function readLine(text: string, line: number): ImportItem {
  const item: ImportItem = { line, document: {}, variants: [], faults: [], isTable: false };
  const fail = (field: string | null, message: string) => ({ ...item, faults: [{ line, field, message }] });
  const bad = findBadText([text], line);
  if (bad) return { ...item, faults: [bad] };
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    return fail(null, "is no JSON");
  }
  if (!isObject(value)) return fail(null, "must be a JSON object");
  const { variants = [], ...document } = withoutTold(value);
  if (!Array.isArray(variants) || !variants.every(isObject)) return fail("variants", "must be a list of objects");
  return { ...item, document, variants: variants.map((variant) => ({ line, document: withoutTold(variant) })) };
}

function withoutTold(record: Record<string, unknown>): Record<string, unknown> {
  const kept = { ...record };
  for (const name of toldOnly) delete kept[name];
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
