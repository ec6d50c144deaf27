import { type AppError, invalidField, weakPassword } from "../../errors.ts";
import { isCommonPassword } from "./common-password.ts";

const leastCharacters = 16;
const maxBytes = 1024;

// Letters of scripts without case are neither lower nor upper, and no letter or mark is special.
const rules: readonly [pattern: RegExp, lack: string][] = [
  [/\p{Ll}/u, "a lower-case letter"],
  [/\p{Lu}/u, "an upper-case letter"],
  [/\p{Nd}/u, "a digit"],
  [/[^\p{L}\p{M}\p{N}\p{C}]/u, "a special character"],
];

/**
 * Refuses a new password that is too weak (specification, section 8). Length is counted in characters, not in bytes.
 * @throws weakPassword with `details` naming what it lacks; validationFailed for one that is too long or no text at all.
 */
export function requireStrongPassword(field: string, password: string): void {
  if (!password.isWellFormed() || /\p{Cc}/u.test(password)) {
    throw invalidField(field, "must not hold control characters or broken Unicode");
  }
  const composed = password.normalize("NFC");
  if (Buffer.byteLength(composed) > maxBytes) throw invalidField(field, `must be at most ${maxBytes} bytes`);
  const lacks = rules.filter(([pattern]) => !pattern.test(composed)).map(([, lack]) => lack);
  if ([...composed].length < leastCharacters) lacks.unshift(`at least ${leastCharacters} characters`);
  if (lacks.length > 0) throw tooWeak(field, `lacks ${lacks.join(", ")}`);
  if (isCommonPassword(composed)) throw tooWeak(field, "is a common password, repeated or with little around it");
}

function tooWeak(field: string, message: string): AppError {
  return weakPassword(undefined, { details: [{ field, message }] });
}
