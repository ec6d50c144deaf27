import { invalidField } from "../errors.ts";

/** Control characters that one-line texts must not contain, as ranges of a regular expression. */
export const refusedInLine = "\\x00-\\x1f\\x7f";
export const refusedInNote = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f";
const inLine = new RegExp(`[${refusedInLine}]`);
const inNote = new RegExp(`[${refusedInNote}]`);

/** Accepts one line without control characters or broken surrogates. Throws validationFailed naming the field. */
export function requireText(field: string, value: string, max: number, refused = inLine): string {
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > max) throw invalidField(field, `must be at most ${max} characters`);
  if (!value.isWellFormed() || refused.test(value)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  return value;
}

/** Accepts lines of at most 50,000 characters, in valid Unicode. Throws validationFailed naming the field. */
export function requireSafeText(field: string, value: string): string {
  // Some readers of the database end a text at NUL; a lone surrogate would be replaced.
  if (value.includes("\0") || !value.isWellFormed())
    throw invalidField(field, "must not contain NUL or invalid Unicode");
  if (value.length > 50_000) throw invalidField(field, "must be at most 50000 characters");
  return value;
}

/** Accepts null, or a text of several lines. Throws as `requireText`. */
export function checkNote(field: string, value: string | null, max: number): string | null {
  return value === null ? null : requireText(field, value, max, inNote);
}

export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
