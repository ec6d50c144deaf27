import { readFileSync } from "node:fs";
import { type AppError, validationFailed } from "../errors.ts";

/** Environment variables, as `process.env` holds them. */
export type Environment = Record<string, string | undefined>;

/**
 * A variable's value, or what stands in the file that its `…_FILE` form names; an empty one is as none.
 * @throws validationFailed naming the variable, where its file cannot be read.
 */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value !== undefined && value !== "") return value;
  const file = env[`${name}_FILE`];
  if (file === undefined || file === "") return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw validationFailed(`${name}_FILE names a file that cannot be read: ${file}`, { cause });
  }
}

/** A value from outside, and what to call it when it is at fault: `--port` or `BODEGA_PORT`. */
export interface Setting {
  value: string | undefined;
  source: string;
}

/** A validationFailed that names the flag or variable at fault. */
export function invalidSetting(source: string, message: string): AppError {
  return validationFailed(`${source} ${message}`, { details: [{ field: source, message }] });
}
