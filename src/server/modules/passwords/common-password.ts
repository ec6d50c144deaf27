import { readFileSync } from "node:fs";
import listPath from "@zxcvbn-ts/language-common/src/passwords.json" with { type: "file" };

/** Shorter words stand in too many good passwords. */
const leastLetters = 4;
const leet: Record<string, string> = { "@": "a", "4": "a", "3": "e", "0": "o", $: "s", "5": "s", "7": "t", "+": "t" };

/** JSON text of the 49,000 most common passwords in lower case; half a megabyte, so read once and only if asked. */
let list: string | undefined;

/**
 * Whether a password is a common one, also in other case, in leetspeak, repeated as a whole, or with digits and symbols
 * around it: few that are common as they stand would pass the other rules.
 */
export function isCommonPassword(password: string): boolean {
  list ??= readFileSync(listPath, "latin1");
  for (const form of formsOf(password.normalize("NFKC").toLowerCase())) {
    if (form.length >= leastLetters && list.includes(JSON.stringify(form))) return true;
  }
  return false;
}

/** What a password comes down to: each way of simplifying it, applied to what the others leave. */
function formsOf(password: string): Set<string> {
  const forms = new Set([password]);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const form of forms) for (const simplify of simplifications) forms.add(simplify(form));
  return forms;
}

const simplifications: readonly ((text: string) => string)[] = [
  (text) => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""),
  (text) => text.replace(/^\P{L}+|\P{L}+$/gu, ""),
  (text) => fromLeet(text, "i"),
  (text) => fromLeet(text, "l"),
  repeatedPart,
];

function fromLeet(text: string, one: string): string {
  return text.replace(/[@430$57+1!|]/g, (sign) => leet[sign] ?? one);
}

/** The part of which a text is made by repetition, with or without signs between; the text itself when there is none. */
function repeatedPart(text: string): string {
  const parts = text.split(/[^\p{L}\p{N}]+/u);
  const [first = ""] = parts;
  if (parts.every((part) => part === first)) return repetend(first);
  return repetend(text);
}

function repetend(text: string): string {
  // The shortest period of a text that is repeated as a whole is where its double holds it again.
  return text.slice(0, (text + text).indexOf(text, 1));
}
