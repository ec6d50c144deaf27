import { resolve } from "node:path";
import { withEnvFile } from "./env-file.ts";
import { type Environment, nonEmpty, type Option, readVariable } from "./environment.ts";

/** Values of the command line by flag: `{ "data-dir": "/srv" }`. An empty list and `false` count as not given. */
export type ConfigFlags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** Looks up options. Flags take precedence over the environment, and the environment over `bodega.env` of the data directory. */
export interface Options {
  /** Absolute. */
  dataDir: string;
  /** The environment with what `bodega.env` adds. */
  env: Environment;
  /** The value of a variable, or of its flag where there is one. */
  get(variable: string, flag?: string): Option;
}

export const defaultDataDir = "bodega-data";

/**
 * Opens the sources of options for a command or a server.
 * @throws validationFailed for an empty data directory or a `bodega.env` that cannot be read.
 */
export function openOptions(flags: ConfigFlags, environment: Environment): Options {
  const dataDir = readDataDir(flags, environment);
  const env = withEnvFile(environment, dataDir);
  return { dataDir, env, get: (variable, flag = "") => lookUp(variable, { flag, flags, env }) };
}

/**
 * The data directory alone, as an absolute path, without reading its `bodega.env`.
 * @throws validationFailed for an empty one.
 */
export function readDataDir(flags: ConfigFlags, environment: Environment): string {
  const option = lookUp("BODEGA_DATA_DIR", { flag: "data-dir", flags, env: environment });
  return resolve(nonEmpty(option) ?? defaultDataDir);
}

function lookUp(
  variable: string,
  { flag, flags, env }: { flag: string; flags: ConfigFlags; env: Environment },
): Option {
  const given = flags[flag];
  const isGiven = given !== undefined && given !== false && !(Array.isArray(given) && given.length === 0);
  if (!isGiven) return { value: readVariable(env, variable), source: variable };
  return { value: given === true ? "1" : String(given), source: `--${flag}` };
}
