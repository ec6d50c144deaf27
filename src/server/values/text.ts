import { invalidField } from "../errors.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused.
const inLine = /[\u0000-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused.
const inNote = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * A text of one line: not blank, at most `max` characters, without control characters or broken surrogates.
 * @throws validationFailed naming the field.
 */
export function requireText(field: string, value: string, max: number, refused = inLine): string {
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > max) throw invalidField(field, `must be at most ${max} characters`);
  if (!value.isWellFormed() || refused.test(value)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  return value;
}

/** A text of any lines and at most 50,000 characters, in valid Unicode. Errors: validationFailed naming the field. */
export function requireSafeText(field: string, value: string): string {
  // Some readers of the database end a text at NUL; a lone surrogate would be replaced.
  if (value.includes("\0") || !value.isWellFormed())
    throw invalidField(field, "must not contain NUL or invalid Unicode");
  if (value.length > 50_000) throw invalidField(field, "must be at most 50000 characters");
  return value;
}

/** Null, or a text as `requireText` accepts it that may have several lines. */
export function checkNote(field: string, value: string | null, max: number): string | null {
  return value === null ? null : requireText(field, value, max, inNote);
}

/** Joins words for a sentence: `a, b and c`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
