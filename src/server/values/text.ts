import { invalidField } from "../errors.ts";

/**
 * A text that a person gave: not blank, at most `most` characters, without control characters or broken surrogates.
 * @throws validationFailed naming the field.
 */
export function requireText(field: string, value: string, most: number): string {
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > most) throw invalidField(field, `must be at most ${most} characters`);
  if (!value.isWellFormed() || hasControlCharacter(value)) {
    throw invalidField(field, "must not hold control characters or broken Unicode");
  }
  return value;
}

/**
 * A text that may have several lines: not blank, without other control characters or broken surrogates; null stays.
 * @throws validationFailed naming the field.
 */
export function checkNote(field: string, value: string | null, most: number): string | null {
  if (value === null) return null;
  if (value.trim() === "") throw invalidField(field, "must not be blank");
  if (value.length > most) throw invalidField(field, `must be at most ${most} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  if (!value.isWellFormed() || /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(value)) {
    throw invalidField(field, "must not hold control characters or broken Unicode");
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
