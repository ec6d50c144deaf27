import { invalidField } from "../../errors.ts";
import { eventTypes } from "./types.ts";

/** Everything that can stand for events: `*`, `order.*`, `order.paid`. */
const kinds = [...new Set(eventTypes.map((type) => `${type.split(".")[0]}.*`))];
const known: readonly string[] = ["*", ...kinds, ...eventTypes];

/**
 * Patterns of event types, each once.
 * @param field the field that an error names.
 * @throws validationFailed for one that no event matches, or for none at all.
 */
export function parsePatterns(field: string, given: readonly string[]): string[] {
  const patterns = [...new Set(given.map((pattern) => pattern.trim()))];
  const unknown = patterns.find((pattern) => !known.includes(pattern));
  if (unknown !== undefined || patterns.length === 0) {
    throw invalidField(field, `must be some of ${known.join(", ")}`);
  }
  return patterns;
}

/** The types that match any of the patterns, in the order in which they are listed. */
export function matchTypes(patterns: readonly string[]): string[] {
  return eventTypes.filter((type) =>
    patterns.some((pattern) => pattern === "*" || pattern === type || pattern === `${type.split(".")[0]}.*`),
  );
}
