import { invalidField } from "../../errors.ts";
import { requireText } from "../../values/text.ts";
import { parseLanguage } from "../tenants/language.ts";

/** How many languages a product can be translated into. */
export const maxLanguages = 50;
/** What to say of more of them. */
export const tooManyLanguages = `a product has translations into at most ${maxLanguages} languages`;
const longestDescription = 50_000;

/** Texts of a product by language; null takes away, where what stands is merged with. */
export type TranslationsInput = Record<string, { title?: string | null; description?: string | null } | null>;

/**
 * The JSON text of a product's translations, under canonical language codes.
 * @throws validationFailed naming the field, such as `translations.de.title`.
 */
export function translationsText(input: TranslationsInput): string {
  const names = Object.keys(input);
  if (names.filter((name) => input[name] !== null).length > maxLanguages)
    throw invalidField("translations", tooManyLanguages);
  const texts: TranslationsInput = {};
  for (const name of names) {
    const tag = parseLanguage(`translations.${name.slice(0, 64)}`, name);
    const field = `translations.${tag}`;
    if (Object.hasOwn(texts, tag)) throw invalidField(field, "stands in it twice");
    texts[tag] = checkTexts(field, input[name] ?? null);
  }
  return JSON.stringify(texts);
}

function checkTexts(field: string, given: TranslationsInput[string]): TranslationsInput[string] {
  if (given === null) return null;
  const { title, description } = given;
  if (typeof title === "string") requireText(`${field}.title`, title, 300);
  if (typeof description === "string") requireSafeText(`${field}.description`, description);
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}

/** A text of any length and several lines. Errors: validationFailed naming the field. */
export function requireSafeText(field: string, value: string): string {
  // NUL would end the text early for some readers of the database, a lone surrogate would be replaced.
  if (value.includes("\0") || !value.isWellFormed()) throw invalidField(field, "must not hold NUL or broken Unicode");
  if (value.length > longestDescription) throw invalidField(field, `must be at most ${longestDescription} characters`);
  return value;
}
