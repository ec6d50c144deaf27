/** Longest slug that is made from a title, in characters. */
const longest = 80;

/**
 * The part of an address that a title gives: lower-case letters and digits of any script, joined by hyphens, accents
 * of Latin letters folded (`Crème brûlée` → `creme-brulee`). Empty when the title has neither letter nor digit.
 */
export function slugFrom(title: string): string {
  const folded = title
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC")
    .toLowerCase();
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...words.join("-")].slice(0, longest).join("").replace(/-+$/, "");
}

/** What a slug given by a caller must look like. */
export const slugPattern = "^[\\p{L}\\p{M}\\p{N}]+(?:[-_][\\p{L}\\p{M}\\p{N}]+)*$";

const valid = new RegExp(slugPattern, "u");

/** Whether a text can be a slug: letters and digits in lower case, single hyphens or underscores between them. */
export function isSlug(text: string): boolean {
  return valid.test(text) && text === text.toLowerCase() && text.length <= 120;
}
