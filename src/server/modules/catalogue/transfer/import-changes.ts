import { parseLanguage } from "../../tenants/input.ts";
import { normalizeSku } from "../products/input.ts";

export type Fields = Record<string, unknown>;

export function findChanges(existing: Fields, given: Fields, isCsv: boolean): Fields {
  const isChanged = ([name, value]: [string, unknown]) => {
    const before = existing[name];
    if (value === undefined || isSame(before, value) || (isCsv && value === null && before === "")) return false;
    if (name === "images") return !isSame(comparable(before), comparable(value));
    // Stored JSON never has more digits than a double can represent.
    return name !== "metadata" || !isSame(before, JSON.parse(JSON.stringify(value)));
  };
  return Object.fromEntries(Object.entries(given).filter(isChanged));
}

/** Whether two values are equal as JSON; the order of keys does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b, true);
}

function comparable(images: unknown): unknown {
  if (!Array.isArray(images)) return images;
  const placed = images.map((image, index) => {
    const { media_id, url, alt = "", position = index, width: _, height: __, ...rest } = isObject(image) ? image : {};
    return { place: Number(position), image: { ...(media_id === undefined ? { url } : { media_id }), alt, ...rest } };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ image }) => image);
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Converts the fields of a product or variant to their stored form, so that equal values are recognised. */
export function normalize({ ...fields }: Fields): Fields {
  const { sku, slug, translations, options } = fields;
  const nfc = (text: unknown) => (typeof text === "string" ? text.normalize("NFC") : text);
  if (typeof sku === "string") fields.sku = normalizeSku(sku);
  if (slug !== undefined) fields.slug = nfc(slug);
  if (isObject(options)) {
    fields.options = Object.fromEntries(Object.entries(options).map(([name, value]) => [nfc(name), nfc(value)]));
  }
  if (isObject(translations)) {
    const entries = Object.entries(translations);
    const tags = new Set(entries.map(([name]) => parseLanguage(`translations.${name.slice(0, 64)}`, name)));
    // If two names mean the same language, validation reports it.
    if (tags.size === entries.length) {
      fields.translations = Object.fromEntries([...tags].map((tag, index) => [tag, entries[index]?.[1]]));
    }
  }
  return fields;
}
