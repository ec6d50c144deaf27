import { type AppError, invalidField, weakPassword } from "../../errors.ts";
import { listWords } from "../../values/text.ts";
import { isCommonPassword } from "./common-password.ts";

const leastCharacters = 16;
const maxBytes = 1024;

// Letters of scripts without case are neither lower nor upper, and no letter or mark is special.
const rules: readonly [pattern: RegExp, need: string][] = [
  [/\p{Ll}/u, "a lowercase letter"],
  [/\p{Lu}/u, "an uppercase letter"],
  [/\p{Nd}/u, "a digit"],
  [/[^\p{L}\p{M}\p{N}\p{C}]/u, "a special character"],
];

/**
 * Refuses a new password that is too weak (specification, section 8). Length is counted in characters, not in bytes.
 * @throws weakPassword with `details` naming what it needs; validationFailed for one that is too long or not valid text.
 */
export function requireStrongPassword(field: string, password: string): void {
  if (!password.isWellFormed() || /\p{Cc}/u.test(password)) {
    throw invalidField(field, "must not contain control characters or invalid Unicode");
  }
  const composed = password.normalize("NFC");
  if (Buffer.byteLength(composed) > maxBytes) throw invalidField(field, `must be at most ${maxBytes} bytes`);
  const needs = rules.filter(([pattern]) => !pattern.test(composed)).map(([, need]) => need);
  if ([...composed].length < leastCharacters) needs.unshift(`at least ${leastCharacters} characters`);
  if (needs.length > 0) throw tooWeak(field, `needs ${listWords(needs)}`);
  if (isCommonPassword(composed)) throw tooWeak(field, "is a common password, or one repeated or with little added");
}

function tooWeak(field: string, message: string): AppError {
  return weakPassword(undefined, { details: [{ field, message }] });
}
