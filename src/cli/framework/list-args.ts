import type { Console } from "../terminal/console.ts";
import { info } from "../terminal/output.ts";
import { type FlagArg, namespaceArg } from "./args.ts";
import { parsePastTime } from "./parse-values.ts";

/** `-n` of a command that needs it. */
export const requiredNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

/** `-n` of a command that works on all stores without it. */
export const namespaceFilterArg = {
  ...namespaceArg,
  description: "Filter by store (default: all)",
} as const satisfies FlagArg;

export const userFilterArg = {
  type: "string",
  valueHint: "id|email",
  completes: "user",
  description: "Filter by user",
} as const satisfies FlagArg;

export const sinceArg = {
  type: "string",
  valueHint: "duration|time",
  description: "Created at or after: 7d (ago), 2030-01-31, or 2030-01-31T12:00:00Z",
} as const satisfies FlagArg;

export const untilArg = {
  ...sinceArg,
  description: "Created before: 7d (ago), 2030-01-31, or 2030-01-31T12:00:00Z",
} as const satisfies FlagArg;

/** `--limit` with its default. */
export function limitArg<const D extends string>(defaultLimit: D, max?: number) {
  const description = `Maximum number of rows${max === undefined ? "" : `, up to ${max}`}`;
  return { type: "string", valueHint: "number", default: defaultLimit, description } as const satisfies FlagArg;
}

/**
 * A flag's time in the past as RFC 3339; a day means its beginning in UTC.
 * @throws UsageError naming the flag.
 */
export function readPastTime(flag: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return parsePastTime(flag, isDay ? `${text}T00:00:00Z` : text, now);
}

/** Notes below a list that was cut at its limit. */
export function noteLimit(console: Console, limit: number): Promise<void> {
  return info(console, `Only the first ${limit} rows are listed. To list more, use a higher --limit.`);
}
