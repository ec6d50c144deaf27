import { invalidField } from "../errors.ts";
import { formatBytes } from "./units.ts";

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

/** Refuses NUL, at which some programs end a text, and lone surrogates, which the database would replace. */
function requireUnicode(field: string, text: string): void {
  if (text.includes("\0") || !text.isWellFormed()) throw invalidField(field, "must not contain NUL or invalid Unicode");
}

/** Accepts a text of at most 50,000 characters, in valid Unicode. Throws validationFailed naming the field. */
export function requireSafeText(field: string, value: string): string {
  requireUnicode(field, value);
  if (value.length > 50_000) throw invalidField(field, "must be at most 50000 characters");
  return value;
}

/** Accepts null, or a text of several lines. Throws as `requireText`. */
export function checkNote(field: string, value: string | null, max: number): string | null {
  return value === null ? null : requireText(field, value, max, inNote);
}

/** Returns `a, b and c`. `Intl.ListFormat` does the same, but takes 2 ms at the start. */
export function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export function requireWhole(field: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalidField(field, `must be a whole number from ${min} to ${max}`);
  }
  return value;
}

const maxBytes = 16_384;
const deepest = 20;

/** The error for metadata that becomes too large when the database merges it. */
export const mergedMetadataTooLarge = `would be larger than ${formatBytes(maxBytes)} once merged`;

/** Returns metadata as JSON text. Throws validationFailed, naming `metadata`, above 16 KiB or 20 levels. */
export function metadataText(value: Record<string, unknown>): string {
  checkShape(value, 0, { left: maxBytes / 2 });
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > maxBytes) throw invalidField("metadata", `must be at most ${formatBytes(maxBytes)}`);
  return json;
}

/** Throws validationFailed for too many levels or values. Each value takes at least two bytes of JSON. */
function checkShape(value: unknown, depth: number, budget: { left: number }): void {
  if (--budget.left < 0) throw invalidField("metadata", `must be at most ${formatBytes(maxBytes)}`);
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalidField("metadata", "contains a number that is too large");
  }
  if (typeof value === "string") requireUnicode("metadata", value);
  if (typeof value !== "object" || value === null) return;
  if (depth >= deepest) throw invalidField("metadata", `must be at most ${deepest} levels deep`);
  for (const [name, inner] of Object.entries(value)) {
    requireUnicode("metadata", name);
    checkShape(inner, depth + 1, budget);
  }
}
