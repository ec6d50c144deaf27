import { readFileSync } from "node:fs";
import listPath from "@zxcvbn-ts/language-common/src/passwords.json" with { type: "file" };
import { type AppError, invalidField, weakPassword } from "../../errors.ts";
import { listWords } from "../../values/fields.ts";

const minCharacters = 16;
const maxBytes = 1024;

// In scripts without case, letters are neither lowercase nor uppercase. Letters and marks are never special.
const rules: readonly [pattern: RegExp, need: string][] = [
  [/\p{Ll}/u, "a lowercase letter"],
  [/\p{Lu}/u, "an uppercase letter"],
  [/\p{Nd}/u, "a digit"],
  [/[^\p{L}\p{M}\p{N}\p{C}]/u, "a special character"],
];

const needsLength = `at least ${minCharacters} characters`;

export const passwordNeeds = listWords([needsLength, ...rules.map(([, need]) => need)]);

/** Checks a new password; length in characters (specification, section 8). Errors: weakPassword, validationFailed. */
export function requireStrongPassword(field: string, password: string): void {
  if (!password.isWellFormed() || /\p{Cc}/u.test(password)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  // `normalize` takes quadratic time for many marks, so a long password is cut. Three UTF-16 units never compose to
  // fewer than two bytes, so a cut password is still longer than `maxBytes`.
  const composed = password.slice(0, 2 * maxBytes).normalize("NFC");
  if (Buffer.byteLength(composed) > maxBytes) throw invalidField(field, `must be at most ${maxBytes} bytes`);
  const needs = rules.filter(([pattern]) => !pattern.test(composed)).map(([, need]) => need);
  if ([...composed].length < minCharacters) needs.unshift(needsLength);
  if (needs.length > 0) throw tooWeak(field, `needs ${listWords(needs)}`);
  if (isCommonPassword(composed)) throw tooWeak(field, "is too similar to a common password");
}

function tooWeak(field: string, message: string): AppError {
  return weakPassword(undefined, { details: [{ field, message }] });
}

/** Forms with fewer letters are not compared, because good passwords also contain them. */
const minLetters = 4;
const leet: Record<string, string> = { "@": "a", "4": "a", "3": "e", "0": "o", $: "s", "5": "s", "7": "t", "+": "t" };

/** The number of the most common passwords, which are refused even with digits around them. */
const maxPadded = 1000;

/** 49,000 passwords as JSON in lower case, the most common first. Half a megabyte, loaded at the first use. */
let lists: { all: string; top: string } | undefined;

/** Looks a password up in the list. Ignores case, leetspeak, repetition, symbols; for the first 1,000, also digits. */
function isCommonPassword(password: string): boolean {
  if (!lists) {
    const all = readFileSync(listPath, "latin1");
    lists = { all, top: JSON.stringify((JSON.parse(all) as string[]).slice(0, maxPadded)) };
  }
  const { all, top } = lists;
  const text = password.normalize("NFKC").toLowerCase();
  return isAnyIn(all, formsOf(text, foldings)) || isAnyIn(top, formsOf(text, [...foldings, withoutEnds]));
}

function isAnyIn(list: string, forms: Set<string>): boolean {
  return [...forms].some((form) => form.length >= minLetters && list.includes(JSON.stringify(form)));
}

type Simplification = (text: string) => string;

const withoutEnds: Simplification = (text) => text.replace(/^\P{L}+|\P{L}+$/gu, "");
const fromLeet = (text: string, one: string) => text.replace(/[@430$57+1!|]/g, (sign) => leet[sign] ?? one);
const foldings: readonly Simplification[] = [
  (text) => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""),
  (text) => fromLeet(text, "i"),
  (text) => fromLeet(text, "l"),
  repeatedPart,
];

function formsOf(password: string, simplifications: readonly Simplification[]): Set<string> {
  const forms = new Set([password]);
  // The loop also visits the forms that it adds.
  for (const form of forms) for (const simplify of simplifications) forms.add(simplify(form));
  return forms;
}

/** Returns `abc` for `abcabc` or `abc-abc`, and any other text unchanged. */
function repeatedPart(text: string): string {
  const parts = new Set(text.split(/[^\p{L}\p{N}]+/u));
  const [repeated] = parts.size === 1 ? parts : [text];
  // The doubled text contains the text again after its shortest period.
  return repeated?.slice(0, (repeated + repeated).indexOf(repeated, 1)) ?? text;
}
