/** Maximum length of a slug made from a title, in characters. */
const maxLength = 80;

/** The slug of a title (`Crème brûlée` → `creme-brulee`). Empty when the title has neither letter nor digit. */
export function slugFrom(title: string): string {
  const folded = title
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC")
    .toLowerCase();
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...words.join("-")].slice(0, maxLength).join("").replace(/-+$/, "");
}

/** The slug that a product gets from its title. */
export function defaultSlug(title: string): string {
  return slugFrom(title) || "product";
}

const valid = /^[\p{L}\p{M}\p{N}]+(?:[-_][\p{L}\p{M}\p{N}]+)*$/u;

/** Whether a text can be a slug: letters and digits in lowercase, single hyphens or underscores between them. */
export function isSlug(text: string): boolean {
  return valid.test(text) && text === text.toLowerCase() && text.length <= 120;
}
