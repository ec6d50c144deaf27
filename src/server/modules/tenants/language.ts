import { invalidField } from "../../errors.ts";

/**
 * A BCP 47 language tag in its canonical case (`pt-BR`).
 * @throws validationFailed naming the field.
 */
export function parseLanguage(field: string, tag: string): string {
  try {
    const canonical = tag.length <= 35 ? Intl.getCanonicalLocales(tag)[0] : undefined;
    if (canonical !== undefined) return canonical;
  } catch {
    // Answered below, because the engine's message names no field.
  }
  throw invalidField(field, "must be a language code, such as en or pt-BR");
}
