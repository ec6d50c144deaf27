const latin = /^[a-z]+$/;
const alphabets = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"];
const minLength = 4;
/** Longer words are not corrected, because each letter adds fifty spellings. */
const maxCorrected = 16;

/** A folded word without its plural ending: `berries` and `berry` become `berri`. A stem need not be a real word. */
export function stemOf(word: string): string {
  if (word.length < minLength || !latin.test(word)) return word;
  let stem = word;
  if (stem.endsWith("s") && !/(?:ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  else if (/e?aux$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length >= 6 && stem.endsWith("en")) stem = stem.slice(0, -1);
  if (stem.length >= minLength && stem.endsWith("e")) stem = stem.slice(0, -1);
  return stem.length >= minLength && stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

/** The stems of all words that differ by one letter, not the first. Empty for short and long words. */
export function stemsNear(word: string): string[] {
  const alphabet = alphabets.find((letters) => [...word].every((letter) => letters.includes(letter)));
  if (word.length < minLength || word.length > maxCorrected || alphabet === undefined) return [];
  const near = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const [start, end] = [word.slice(0, at), word.slice(at)];
    if (end !== "") near.add(stemOf(start + end.slice(1)));
    if (end.length > 1) near.add(stemOf(start + end[1] + end[0] + end.slice(2)));
    for (const letter of alphabet) {
      near.add(stemOf(start + letter + end));
      if (end !== "") near.add(stemOf(start + letter + end.slice(1)));
    }
  }
  return [...near];
}
