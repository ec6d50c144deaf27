import { readFileSync } from "node:fs";
import { type AppError, errnoOf, validationFailed } from "../errors.ts";
import { parseDuration } from "../values/duration.ts";

export type Environment = Record<string, string | undefined>;

/** Returns a variable, or the content of the file that its `…_FILE` form names. Empty ones count as unset. */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value !== undefined && value !== "") return value;
  const file = env[`${name}_FILE`];
  if (file === undefined || file === "") return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw validationFailed(`${name}_FILE names a file that cannot be read (${errnoOf(cause)}): ${file}`, { cause });
  }
}

/** `source` is the flag or variable of the value, such as `--port` or `BODEGA_PORT`. */
export interface Option {
  value: string | undefined;
  source: string;
}

export function invalidOption(source: string, message: string): AppError {
  return validationFailed(`${source} ${message}`, { details: [{ field: source, message }] });
}

export function nonEmpty({ value, source }: Option): string | undefined {
  if (value !== undefined && value.trim() === "") throw invalidOption(source, "must not be empty");
  return value;
}

export function integer({ value, source }: Option, min: number, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw invalidOption(source, `must be a whole number from ${min} to ${max}`);
  return number;
}

export function oneOf<T extends string>({ value, source }: Option, words: readonly T[]): T | undefined {
  const word = words.find((one) => one === value);
  if (value !== undefined && word === undefined) throw invalidOption(source, `must be one of ${words.join(", ")}`);
  return word;
}

export function matching({ value, source }: Option, form: RegExp, hint: string): string | undefined {
  if (value === undefined || form.test(value)) return value;
  throw invalidOption(source, hint);
}

export function onOrOff(option: Option): boolean {
  return oneOf(option, ["0", "1"]) === "1";
}

export function parseUrl(value: string, protocols: readonly string[]): URL | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url && protocols.includes(url.protocol) ? url : undefined;
}

export function duration({ value, source }: Option, min: number, max: number, hint: string): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= min && ms <= max) return ms;
  throw invalidOption(source, `must be a duration ${hint}`);
}
