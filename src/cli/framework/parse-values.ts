import { parseDuration as readDuration, readTime } from "../../server/values/units.ts";
import { invalidFlag } from "../terminal/console.ts";

// These functions parse the values of flags. They throw malformedRequest, which names the flag.

/** Parses a duration such as `90d`, `24h`, `30m`, `45s`, `2w` or `0`. Returns milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const ms = text === "0" ? 0 : readDuration(text);
  if (ms !== undefined) return ms;
  throw invalidFlag(flag, "must be a duration: a number followed by s, m, h, d or w, such as 24h");
}

/** Returns a parser of RFC 3339 times, and of durations after (1) or before (-1) now. A past time may be a day in UTC. */
const timeParser = (direction: 1 | -1) => (flag: string, text: string) => {
  const ms = readDuration(text);
  const isDay = /^[\d-]+$/.test(text);
  const given = isDay && direction > 0 ? undefined : readTime(text.replace(" ", "T"));
  const at = ms === undefined ? given : Date.now() + direction * ms;
  // RFC 3339 has no years after 9999, so later times are refused.
  if (at !== undefined && at < Date.UTC(10_000, 0)) return new Date(at).toISOString();
  const day = direction < 0 ? ", a day such as 2026-11-01" : "";
  throw invalidFlag(flag, `must be a duration such as 90d${day}, or a time such as 2030-01-31T00:00:00Z`);
};

export const parseFutureTime = timeParser(1);
export const parsePastTime = timeParser(-1);

export function parseCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw invalidFlag(flag, "must be a whole number of at least 1");
}

/** Parses a decimal number of at most 16 characters, because a double cannot hold more digits exactly. */
export function parseDecimal(flag: string, text: string): number {
  if (/^(?=.{1,16}$)\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw invalidFlag(flag, `must be a number ${text.includes(",") ? "with a point, " : ""}such as 1.5`);
}

/** Parses a whole number of at most nine digits. The error contains `noun`, such as `days`. */
export function parseWhole(flag: string, text: string, noun: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw invalidFlag(flag, `must be a whole number of ${noun}`);
}

/** Parses `name=value`, where the value may be empty. `needs` completes the error `must be …`. */
export function parsePair(flag: string, text: string, needs: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw invalidFlag(flag, `must be ${needs}`);
}

export function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}
