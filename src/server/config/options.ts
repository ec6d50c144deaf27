import { resolve } from "node:path";
import { withEnvFile } from "./env-file.ts";
import { type Environment, nonEmpty, type Option, readVariable } from "./environment.ts";

/** Flags of the command line, as text; undefined where a flag was not given. */
export interface ConfigFlags {
  dataDir?: string | undefined;
  databaseUrl?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
  workers?: string | undefined;
  publicUrl?: string | undefined;
  trustedProxy?: string[] | undefined;
  log?: string | undefined;
  logLevel?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  metrics?: string | undefined;
  backupEvery?: string | undefined;
  backupTo?: string | undefined;
  backupKeep?: string | undefined;
  allowPrivatePush?: string | undefined;
}

/** Looks up options. Flags take precedence over the environment, and that over `bodega.env` of the data directory. */
export interface Options {
  /** Absolute. */
  dataDir: string;
  /** The environment with what `bodega.env` adds. */
  env: Environment;
  /** The value of a variable, or of its flag where there is one. */
  get(variable: string, flag?: keyof ConfigFlags): Option;
}

export const defaultDataDir = "bodega-data";

/**
 * Opens the sources of options for a command or a server.
 * @throws validationFailed for an empty data directory or a `bodega.env` that cannot be read.
 */
export function openOptions(flags: ConfigFlags, environment: Environment): Options {
  const dataDir = readDataDir(flags, environment);
  const env = withEnvFile(environment, dataDir);
  return {
    dataDir,
    env,
    get(variable, flag) {
      const given = flag && flags[flag];
      if (flag === undefined || given === undefined) return { value: readVariable(env, variable), source: variable };
      return { value: String(given), source: `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}` };
    },
  };
}

/**
 * The data directory alone, as an absolute path, without reading its `bodega.env`.
 * @throws validationFailed for an empty one.
 */
export function readDataDir(flags: ConfigFlags, environment: Environment): string {
  const option: Option =
    flags.dataDir === undefined
      ? { value: readVariable(environment, "BODEGA_DATA_DIR"), source: "BODEGA_DATA_DIR" }
      : { value: flags.dataDir, source: "--data-dir" };
  return resolve(nonEmpty(option) ?? defaultDataDir);
}
