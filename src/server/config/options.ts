import { resolve } from "node:path";
import { withEnvFile } from "./env-file.ts";
import { type Environment, nonEmpty, readVariable } from "./environment.ts";

/** Values of the command line by flag: `{ "data-dir": "/srv" }`. An empty list and `false` count as not given. */
export type ConfigFlags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** Looks up options. Flags take precedence over the environment, and the environment over `bodega.env` of the data directory. */
export type Options = ReturnType<typeof openOptions>;

export const defaultDataDir = "bodega-data";

/** Opens the sources of options. Errors: validationFailed for a `bodega.env` that cannot be read. */
export function openOptions(flags: ConfigFlags, environment: Environment) {
  const dataDir = readDataDir(flags, environment);
  const env = withEnvFile(environment, dataDir);
  return {
    /** Absolute. */
    dataDir,
    /** The environment with what `bodega.env` adds. */
    env,
    /** The value of a variable, or of its flag where there is one. */
    get: (variable: string, flag = "") => lookUp(variable, { flag, flags, env }),
  };
}

/** The data directory alone, as an absolute path, without reading its `bodega.env`. Errors: validationFailed. */
export function readDataDir(flags: ConfigFlags, environment: Environment): string {
  const option = lookUp("BODEGA_DATA_DIR", { flag: "data-dir", flags, env: environment });
  return resolve(nonEmpty(option) ?? defaultDataDir);
}

function lookUp(variable: string, { flag, flags, env }: { flag: string; flags: ConfigFlags; env: Environment }) {
  const given = flags[flag];
  const isGiven = given !== undefined && given !== false && !(Array.isArray(given) && given.length === 0);
  if (!isGiven) return { value: readVariable(env, variable), source: variable };
  return { value: given === true ? "1" : String(given), source: `--${flag}` };
}
