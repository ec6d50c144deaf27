import { invalidField } from "../errors.ts";

/**
 * A text of one line: not blank, at most `max` characters, without control characters or broken surrogates.
 * @throws validationFailed naming the field.
 */
export function requireText(field: string, value: string, max: number): string {
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > max) throw invalidField(field, `must be at most ${max} characters`);
  if (!value.isWellFormed() || hasControlCharacter(value)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  return value;
}

/**
 * A text of several lines, or null: not blank, at most `max` characters, without other control characters or broken
 * surrogates.
 * @throws validationFailed naming the field.
 */
export function checkNote(field: string, value: string | null, max: number): string | null {
  if (value === null) return null;
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > max) throw invalidField(field, `must be at most ${max} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  if (!value.isWellFormed() || /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(value)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  return value;
}

function hasControlCharacter(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

/** Words as a sentence lists them: `a, b and c`. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
