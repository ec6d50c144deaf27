import { attempt } from "./attempt.ts";

/** Returns a tag and its general forms: `zh-Hant-TW`, `zh-Hant`, `zh`. Empty for an invalid tag. */
function fallbacksOf(tag: string): string[] {
  const parts = attempt(() => Intl.getCanonicalLocales(tag)[0])?.split("-") ?? [];
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

/** Tries the tags in `wanted` one after another, each with its general forms. Returns the first available; else `en`. */
export function chooseLanguage(
  wanted: readonly (string | null | undefined)[],
  available: Readonly<Record<string, unknown>>,
): string {
  const tags = wanted.flatMap((tag) => (tag ? fallbacksOf(tag) : []));
  return tags.find((tag) => Object.hasOwn(available, tag)) ?? "en";
}
