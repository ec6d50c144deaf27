import { attempt } from "../errors.ts";

/** A BCP 47 tag and its more general forms: `zh-Hant-TW`, `zh-Hant`, `zh`. Empty for a text that is no tag. */
function fallbacksOf(tag: string): string[] {
  const parts = attempt(() => Intl.getCanonicalLocales(tag)[0])?.split("-") ?? [];
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

/**
 * The first wanted language that is available, or English.
 * @param wanted BCP 47 tags in order of preference; each also matches its more general forms.
 */
export function chooseLanguage(
  wanted: readonly (string | null | undefined)[],
  available: Readonly<Record<string, unknown>>,
): string {
  const tags = wanted.flatMap((tag) => (tag ? fallbacksOf(tag) : []));
  return tags.find((tag) => Object.hasOwn(available, tag)) ?? "en";
}
