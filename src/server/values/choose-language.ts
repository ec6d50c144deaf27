import { attempt } from "./attempt.ts";

/** Returns a tag and its general forms: `zh-Hant-TW`, `zh-Hant`, `zh`. Empty for an invalid tag. */
function fallbacksOf(tag: string): string[] {
  const parts = attempt(() => Intl.getCanonicalLocales(tag)[0])?.split("-") ?? [];
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

/** A tag in `wanted` also matches its more general forms. The default is English. */
export function chooseLanguage(
  wanted: readonly (string | null | undefined)[],
  available: Readonly<Record<string, unknown>>,
): string {
  const tags = wanted.flatMap((tag) => (tag ? fallbacksOf(tag) : []));
  return tags.find((tag) => Object.hasOwn(available, tag)) ?? "en";
}
