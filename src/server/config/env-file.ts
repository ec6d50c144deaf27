import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { errnoOf, invalidField, validationFailed } from "../errors.ts";
import { writeWhole } from "./data-dir.ts";
import type { Environment } from "./environment.ts";

const fileSuffix = "_FILE";
const heading =
  "# Configuration of this store's server and commands. Environment variables and flags take precedence.\n";

/** The file in a data directory with the variables that its server and commands share. */
export function envFilePath(dataDir: string): string {
  return join(dataDir, "bodega.env");
}

/**
 * Adds the variables of a data directory's env file to an environment. A variable that the environment sets, in either
 * form, takes precedence over both forms in the file.
 * @throws validationFailed when the file cannot be read: ignoring it would drop options silently.
 */
export function withEnvFile(env: Environment, dataDir: string): Environment {
  const text = readEnvFile(dataDir);
  if (text === undefined) return env;
  const isSet = (name: string) => env[name] !== undefined && env[name] !== "";
  const added = Object.entries(parseEnv(text)).filter(([name]) => {
    const base = name.endsWith(fileSuffix) ? name.slice(0, -fileSuffix.length) : name;
    return base.startsWith("BODEGA_") && !isSet(base) && !isSet(`${base}${fileSuffix}`);
  });
  return { ...env, ...Object.fromEntries(added) };
}

export type EnvFileChange = ReturnType<typeof addToEnvFile>;

/**
 * Adds variables to the env file of a data directory, readable by its owner only. Variables that it already sets stay;
 * `kept` are those with another value. Errors: validationFailed for a value that cannot be written, unavailable.
 */
export function addToEnvFile(dataDir: string, wanted: Record<string, string>) {
  const path = envFilePath(dataDir);
  const { missing, kept } = compareEnvFile(dataDir, wanted);
  if (missing.length > 0) {
    const lines = missing.map((name) => formatVariable(name, wanted[name] as string));
    const before = readEnvFile(dataDir);
    const gap = before === undefined || before === "" || before.endsWith("\n") ? "" : "\n";
    writeWhole(dataDir, path, `${before ?? heading}${gap}${lines.join("\n")}\n`, before === undefined);
  }
  return { path, written: missing, kept };
}

/** Compares variables with the env file: which ones it lacks, and which ones it sets to another value. */
export function compareEnvFile(dataDir: string, wanted: Record<string, string>) {
  const found: Environment = parseEnv(readEnvFile(dataDir) ?? "");
  const isSet = (name: string) => Boolean(found[name] || found[name + fileSuffix]);
  const names = Object.keys(wanted);
  return {
    missing: names.filter((name) => !isSet(name)),
    kept: names.filter((name) => isSet(name) && found[name] !== wanted[name]),
  };
}

/** A line of an env file, quoted so that this program, systemd and Docker read it alike. Errors: validationFailed. */
export function formatVariable(name: string, value: string): string {
  if (!/[\p{Cc}']/u.test(value)) return `${name}='${value}'`;
  if (!/[\p{Cc}"\\$`]/u.test(value)) return `${name}="${value}"`;
  throw invalidField(name, "must not contain line breaks or both kinds of quotes");
}

/** The text of a data directory's env file; undefined for none. Errors: validationFailed when it cannot be read. */
export function readEnvFile(dataDir: string): string | undefined {
  const path = envFilePath(dataDir);
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) return undefined;
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  }
}
