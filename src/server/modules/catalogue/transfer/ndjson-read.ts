import { validationFailed } from "../../../errors.ts";
import { attempt } from "../../../values/attempt.ts";
import { parseExactJson } from "../../../values/exact-json.ts";
import { isObject } from "./import-changes.ts";
import { findBadText, type ImportItem, maxRecordLength, unreadableItem } from "./import-item.ts";

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

function withoutComputed(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !computed.test(name)));
}
