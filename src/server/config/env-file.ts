import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { invalidField, validationFailed } from "../errors.ts";
import type { Environment } from "./environment.ts";

const fileName = "bodega.env";
const fileForm = "_FILE";

/** Where a data directory keeps the settings that its server and commands share. */
export function settingsPath(dataDir: string): string {
  return join(dataDir, fileName);
}

/**
 * The settings of a data directory, below those of the environment: a variable that is set there, in either form, stands alone.
 * @returns the environment itself where there is no file.
 * @throws validationFailed where the file cannot be read: going on without it would drop settings in silence.
 */
export function withSettings(env: Environment, dataDir: string): Environment {
  const kept = readSettings(dataDir);
  if (kept === undefined) return env;
  const isSet = (name: string) => env[name] !== undefined && env[name] !== "";
  const added = Object.entries(kept).filter(([name]) => {
    const base = name.endsWith(fileForm) ? name.slice(0, -fileForm.length) : name;
    return base.startsWith("BODEGA_") && !isSet(base) && !isSet(`${base}${fileForm}`);
  });
  return { ...env, ...Object.fromEntries(added) };
}

/**
 * What the file of a data directory says; undefined where there is none.
 * @throws validationFailed where it cannot be read.
 */
export function readSettings(dataDir: string): Environment | undefined {
  const text = readSettingsText(dataDir);
  return text === undefined ? undefined : parseEnv(text);
}

/**
 * The file as it stands; undefined where there is none.
 * @throws validationFailed where it cannot be read.
 */
export function readSettingsText(dataDir: string): string | undefined {
  const path = settingsPath(dataDir);
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes((cause as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw validationFailed(`The settings in ${path} cannot be read.`, { cause });
  }
}

/**
 * A line of the file. Quoted so that this program, systemd and Docker read the same: between single quotes nothing means
 * anything, between double quotes little does.
 * @throws validationFailed for a value that cannot be written so.
 */
export function formatSetting(name: string, value: string): string {
  if (!/[\p{Cc}']/u.test(value)) return `${name}='${value}'`;
  if (!/[\p{Cc}"\\$`]/u.test(value)) return `${name}="${value}"`;
  throw invalidField(name, "must not hold line breaks, nor both kinds of quotes");
}
