import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type AppError, errnoOf, invalidField, validationFailed } from "../errors.ts";
import { parseDuration } from "../values/units.ts";
import { suggestWord } from "../values/unknown-name.ts";
import { writeWhole } from "./data-dir.ts";

export type Environment = Record<string, string | undefined>;

/** Returns a variable, or the content of the file that its `…_FILE` form names. An empty variable counts as unset. */
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

/** Returns undefined for an option that is not given. Throws invalidOption with `hint` if `read` finds nothing. */
export function parseOption<T>({ value, source }: Option, read: (value: string) => T | undefined, hint: string) {
  if (value === undefined) return undefined;
  const result = read(value);
  if (result === undefined) throw invalidOption(source, hint);
  return result;
}

export function matching(option: Option, form: RegExp, hint: string): string | undefined {
  return parseOption(option, (value) => (form.test(value) ? value : undefined), hint);
}

const within = (number: number, min: number, max: number) => (number >= min && number <= max ? number : undefined);

export function integer(option: Option, min: number, max: number): number | undefined {
  const read = (value: string) => (/^\d{1,9}$/.test(value) ? within(Number(value), min, max) : undefined);
  return parseOption(option, read, `must be a whole number from ${min} to ${max}`);
}

export function duration(option: Option, min: number, max: number, hint: string): number | undefined {
  const read = (value: string) => within(parseDuration(value) ?? Number.NaN, min, max);
  return parseOption(option, read, `must be a duration ${hint}`);
}

export function oneOf<T extends string>(option: Option, words: readonly T[]): T | undefined {
  return parseOption(option, (value) => words.find((word) => word === value), `must be one of ${words.join(", ")}`);
}

export function onOrOff(option: Option): boolean {
  return oneOf(option, ["0", "1"]) === "1";
}

export function parseUrl(value: string, protocols: readonly string[]): URL | undefined {
  const url = URL.parse(value);
  return url && protocols.includes(url.protocol) ? url : undefined;
}

const prefix = "BODEGA_";
const fileSuffix = "_FILE";
const authorities = "NODE_EXTRA_CA_CERTS";
const heading = "# Configuration of this store's server and commands. Environment and flags take precedence.\n";

export function envFilePath(dataDir: string): string {
  return join(dataDir, "bodega.env");
}

/**
 * Adds the variables of `bodega.env` that the environment sets neither directly nor in their `_FILE` form.
 * @throws validationFailed for an unreadable file, or a variable that has no effect there.
 */
function withEnvFile(env: Environment, dataDir: string): Environment {
  const isSet = (name: string) => env[name] !== undefined && env[name] !== "";
  const found = parseEnv(readEnvFile(dataDir) ?? "");
  if (found[authorities] && found[authorities] !== env[authorities]) {
    const message = `${authorities} has no effect in ${envFilePath(dataDir)}. Set it in the environment of the process.`;
    throw validationFailed(message, { remedy: "For the systemd service: systemctl edit bodega" });
  }
  const added = Object.entries(found).filter(([name]) => {
    const base = name.replace(/_FILE$/, "");
    return base.startsWith(prefix) && !isSet(base) && !isSet(`${base}${fileSuffix}`);
  });
  return { ...env, ...Object.fromEntries(added) };
}

/** Adds variables that the file lacks. `kept` names those it sets differently. Throws validationFailed, unavailable. */
export function addToEnvFile(dataDir: string, wanted: Record<string, string>) {
  const path = envFilePath(dataDir);
  const before = readEnvFile(dataDir);
  const found: Environment = parseEnv(before ?? "");
  const isSet = (name: string) => Boolean(found[name] || found[name + fileSuffix]);
  const names = Object.keys(wanted);
  const missing = names.filter((name) => !isSet(name));
  if (missing.length > 0) {
    const lines = missing.map((name) => formatVariable(name, wanted[name] as string));
    const gap = before === undefined || before === "" || before.endsWith("\n") ? "" : "\n";
    writeWhole(dataDir, path, `${before ?? heading}${gap}${lines.join("\n")}\n`, before === undefined);
  }
  return { path, written: missing, kept: names.filter((name) => isSet(name) && found[name] !== wanted[name]) };
}

/** Returns a line of an env file that this program, systemd and Docker read alike. Throws validationFailed. */
export function formatVariable(name: string, value: string): string {
  if (!/[\p{Cc}']/u.test(value)) return `${name}='${value}'`;
  if (!/[\p{Cc}"\\$`]/u.test(value)) return `${name}="${value}"`;
  throw invalidField(name, "must not contain line breaks or both kinds of quotes");
}

function readEnvFile(dataDir: string): string | undefined {
  const path = envFilePath(dataDir);
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) return undefined;
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  }
}

const settings = `DATA_DIR DATABASE_URL DATABASE_AUTH_TOKEN SECRET NAMESPACE HOST PORT WORKERS PUBLIC_URL TRUSTED_PROXY LOG LOG_LEVEL
TLS_CERT TLS_KEY NO_DOCS BACK_OFFICE METRICS_TOKEN BACKUP_EVERY BACKUP_TO BACKUP_KEEP REPLICATE_TO REPLICATE_KEEP REPLY_CACHE S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY
AUDIT_ADDRESSES S3_ENDPOINT S3_REGION MEDIA SMTP_URL MAIL_FROM PUSH_PRIVATE STRIPE_URL ACME ACME_EMAIL ACME_DIRECTORY ACME_HTTP_PORT`;
/** Names of variables without the prefix `BODEGA_`. A test compares them with the source. */
export const settingNames = settings.split(/\s/);
const files = settingNames.filter((name) => name !== "NAMESPACE").map((name) => `${name}_FILE`);
const known = new Set([...settingNames, ...files]);

/** Finds unknown settings. The messages contain no values. Throws validationFailed for an unreadable file. */
export function findUnknownSettings(env: Environment, dataDir: string): { subject: string; message: string }[] {
  const describe = (variables: Environment, place: string) =>
    Object.keys(variables).flatMap((subject) => {
      const name = subject.slice(prefix.length);
      if (!subject.startsWith(prefix) || known.has(name)) return [];
      const meant = suggestWord(name, known);
      const hint = meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
      return [{ subject, message: `${subject} in ${place} is not a setting and has no effect.${hint}` }];
    });
  const inFile: Environment = parseEnv(readEnvFile(dataDir) ?? "");
  return [...describe(env, "the environment"), ...describe(inFile, envFilePath(dataDir))];
}

/** Maps flags to values: `{ "data-dir": "/srv" }`. An empty list and `false` count as not given. */
export type ConfigFlags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** Flags take precedence over the environment, and the environment over `bodega.env` of the data directory. */
export type Options = ReturnType<typeof openOptions>;

export const defaultDataDir = "bodega-data";

export function openOptions(flags: ConfigFlags, environment: Environment) {
  let env = environment;
  const get = (variable: string, flag = ""): Option => {
    const given = flags[flag];
    const isGiven = given !== undefined && given !== false && !(Array.isArray(given) && given.length === 0);
    if (!isGiven) return { value: readVariable(env, variable), source: variable };
    return { value: given === true ? "1" : String(given), source: `--${flag}` };
  };
  // `bodega.env` is in the data directory, so this setting cannot be in the file.
  const given = matching(get("BODEGA_DATA_DIR", "data-dir"), /\S/, "must not be empty");
  const dataDir = resolve(given ?? defaultDataDir);
  env = withEnvFile(environment, dataDir);
  return { dataDir, env, get };
}
