/** Letters that no decomposition takes apart, but that people type without what is special about them. */
const plainLetters: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ς: "σ",
  ـ: "",
};
const special = new RegExp(`[${Object.keys(plainLetters).join("")}]`, "g");

/** A text in small letters with those that have a plain spelling spelled so: `große` as `grosse`. */
export function spellPlainly(text: string): string {
  return text.replace(special, (letter) => plainLetters[letter] ?? "");
}
