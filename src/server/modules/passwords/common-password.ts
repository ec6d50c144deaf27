import { readFileSync } from "node:fs";
import listPath from "@zxcvbn-ts/language-common/src/passwords.json" with { type: "file" };

/** Shorter words stand in too many good passwords. */
const leastLetters = 4;
const leet: Record<string, string> = { "@": "a", "4": "a", "3": "e", "0": "o", $: "s", "5": "s", "7": "t", "+": "t" };

/** Of so many of the most common ones, also what has digits around it is refused. */
const maxPadded = 1000;

/** JSON texts of passwords in lower case, the most common first. */
interface CommonPasswords {
  all: string;
  top: string;
}

/** 49,000 passwords in half a megabyte, so read once and only if asked. */
let lists: CommonPasswords | undefined;

/**
 * Whether a password is a common one, also in other case, in leetspeak, repeated as a whole, with symbols around it, or,
 * of the most common thousand, with digits as well: few that are common as they stand would pass the other rules.
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

/** What a password comes down to: each way of simplifying it, applied to what the others leave. */
function formsOf(password: string, simplifications: readonly Simplification[]): Set<string> {
  const forms = new Set([password]);
  // A set is walked in order of insertion, what is added meanwhile included.
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
