/** Letters that people type in a plain form, but that Unicode does not decompose. */
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

/** Changes `Große` to `grosse`. */
export function spellPlainly(text: string): string {
  return text.replace(special, (letter) => plainLetters[letter] ?? "");
}
