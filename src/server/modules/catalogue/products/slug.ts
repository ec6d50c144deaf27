const germanSpelling: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };

/** Makes a slug from a title: `creme-brulee`, or in German `druecke` from `Drücke`. Without letters and digits: "". */
export function slugFrom(title: string, lang = "en"): string {
  // The title is cut, because folding can turn one character into eighteen.
  const read = title.slice(0, 300).normalize("NFC").toLowerCase();
  const spelt = /^de(?:-|$)/.test(lang) ? read.replace(/[äöüß]/g, (letter) => germanSpelling[letter] ?? letter) : read;
  const folded = spelt
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC")
    .toLowerCase();
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...words.join("-")].slice(0, 80).join("").replace(/-+$/, "");
}

export function defaultSlug(title: string, lang: string): string {
  return slugFrom(title, lang) || "product";
}

const valid = /^[\p{L}\p{M}\p{N}]+(?:[-_][\p{L}\p{M}\p{N}]+)*$/u;

export function isSlug(text: string): boolean {
  return text.length <= 120 && valid.test(text) && text === text.toLowerCase();
}
