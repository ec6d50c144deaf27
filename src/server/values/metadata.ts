import { invalidField } from "../errors.ts";
import { formatBytes } from "./bytes.ts";

const maxBytes = 16_384;
const deepest = 20;

/** The database refuses metadata that a merge makes too large. */
export const mergedMetadataTooLarge = `would be larger than ${formatBytes(maxBytes)} once merged`;

/** Accepts at most 16 KiB and 20 levels. Throws validationFailed naming `metadata`. */
export function metadataText(value: Record<string, unknown>): string {
  checkShape(value, 0, { left: maxBytes / 2 });
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > maxBytes) throw invalidField("metadata", `must be at most ${formatBytes(maxBytes)}`);
  return json;
}

/** Stops early: each part of a value takes at least two bytes. */
function checkShape(value: unknown, depth: number, budget: { left: number }): void {
  if (--budget.left < 0) throw invalidField("metadata", `must be at most ${formatBytes(maxBytes)}`);
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalidField("metadata", "contains a number that is too large");
  }
  if (typeof value === "string") checkText(value);
  if (typeof value !== "object" || value === null) return;
  if (depth >= deepest) throw invalidField("metadata", `must be at most ${deepest} levels deep`);
  if (Array.isArray(value)) for (const item of value) checkShape(item, depth + 1, budget);
  else
    for (const name in value) {
      checkText(name);
      checkShape((value as Record<string, unknown>)[name], depth + 1, budget);
    }
}

/** Refuses NUL, which ends the text early for some readers, and lone surrogates, which would be replaced. */
function checkText(text: string): void {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalidField("metadata", "must not contain NUL or invalid Unicode");
  }
}
