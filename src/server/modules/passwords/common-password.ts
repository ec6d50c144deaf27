import { readFileSync } from "node:fs";
import listPath from "@zxcvbn-ts/language-common/src/passwords.json" with { type: "file" };

/** Shorter words occur in too many good passwords. */
const leastLetters = 4;
const leet: Record<string, string> = { "@": "a", "4": "a", "3": "e", "0": "o", $: "s", "5": "s", "7": "t", "+": "t" };

/** The most common passwords, which are refused with digits around them as well. */
const maxPadded = 1000;

/** JSON texts of passwords in lower case, the most common first. */
interface CommonPasswords {
  all: string;
  top: string;
}

/** 49,000 passwords in half a megabyte, read at the first use. */
let lists: CommonPasswords | undefined;

/**
 * Whether a password is a common one, also in another case, in leetspeak, repeated, or with symbols around it; the most
 * common thousand also with digits around them. The other rules refuse most common passwords as they are.
 */
export function isCommonPassword(password: string): boolean {
  lists ??= readLists();
  const { all, top } = lists;
  const text = password.normalize("NFKC").toLowerCase();
  return holdsAny(all, formsOf(text, foldings)) || holdsAny(top, formsOf(text, [...foldings, withoutEnds]));
}

function readLists(): CommonPasswords {
  const all = readFileSync(listPath, "latin1");
  return { all, top: JSON.stringify((JSON.parse(all) as string[]).slice(0, maxPadded)) };
}

function holdsAny(list: string, forms: Iterable<string>): boolean {
  for (const form of forms) {
    if (form.length >= leastLetters && list.includes(JSON.stringify(form))) return true;
  }
  return false;
}

/** All forms of a password after any combination of the simplifications. */
function formsOf(password: string, simplifications: readonly Simplification[]): Set<string> {
  const forms = new Set([password]);
  // The loop reaches forms that are added meanwhile.
  for (const form of forms) for (const simplify of simplifications) forms.add(simplify(form));
  return forms;
}

type Simplification = (text: string) => string;

const withoutEnds: Simplification = (text) => text.replace(/^\P{L}+|\P{L}+$/gu, "");

const foldings: readonly Simplification[] = [
  (text) => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""),
  (text) => fromLeet(text, "i"),
  (text) => fromLeet(text, "l"),
  repeatedPart,
];

function fromLeet(text: string, one: string): string {
  return text.replace(/[@430$57+1!|]/g, (sign) => leet[sign] ?? one);
}

/** The part that a text repeats, with or without symbols between; the text itself when it repeats none. */
function repeatedPart(text: string): string {
  const parts = text.split(/[^\p{L}\p{N}]+/u);
  const [first = ""] = parts;
  if (parts.every((part) => part === first)) return repetend(first);
  return repetend(text);
}

function repetend(text: string): string {
  // A text's shortest period is the second position at which its double contains it.
  return text.slice(0, (text + text).indexOf(text, 1));
}
