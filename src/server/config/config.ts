import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { parseFromAddress } from "../values/email.ts";
import { withSettings } from "./env-file.ts";
import { type Environment, invalidSetting, readVariable, type Setting } from "./environment.ts";
import { type OperationConfig, type OperationFlags, readOperation } from "./operation-config.ts";
import { type PushProviders, readPushProviders } from "./push-providers.ts";

/** Everything that can be set from outside, parsed and checked once, then passed in. */
export interface Config extends OperationConfig {
  /** Absolute. */
  dataDir: string;
  databaseUrl: string | undefined;
  databaseAuthToken: string | undefined;
  host: string;
  port: number;
  /** Processes that share the port; 1 serves from the process itself. */
  workers: number;
  publicUrl: string | undefined;
  /** CIDR ranges whose `X-Forwarded-For` is believed. */
  trustedProxies: string[];
  log: "text" | "json";
  /** Seals what must not be read in the database; without it, the file `secret.key` in the data directory does. */
  secret: string | undefined;
  /** `smtp:` or `smtps:` address with its credentials; without it, mail stays in the outbox. */
  smtpUrl: string | undefined;
  /** Sender of all mail: an address, or a name and an address. There is one where there is a mail server. */
  mailFrom: string | undefined;
  /** Accounts at the services that reach devices which are no browsers; none unless they are set. */
  pushProviders: PushProviders;
  /** Whether Web Push endpoints may be this machine's, on private networks, and http. */
  allowPrivatePush: boolean;
  /** Set by a server for the workers that it starts; not meant for people. */
  isWorker: boolean;
}

/** Flags of the command line, as texts; a flag that was not given is undefined. */
export interface ConfigFlags extends OperationFlags {
  dataDir?: string | undefined;
  databaseUrl?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
  workers?: string | undefined;
  publicUrl?: string | undefined;
  trustedProxy?: string[] | undefined;
  log?: string | undefined;
  allowPrivatePush?: string | undefined;
}

export const defaultDataDir = "bodega-data";
export const defaultPort = 8080;
export const defaultHost = "127.0.0.1";

/**
 * Merges flags, environment (each variable also in its `…_FILE` form), `bodega.env` in the data directory, and defaults.
 * Flags beat the environment, and that beats the file.
 * @throws validationFailed that names the flag or variable at fault.
 */
export function readConfig(flags: ConfigFlags, environment: Environment): Config {
  const dataDir = readDataDir(flags, environment);
  const env = withSettings(environment, dataDir);
  const setting = (flag: string | undefined, flagName: string, name: string): Setting => {
    if (flag !== undefined) return { value: flag, source: `--${flagName}` };
    return { value: readVariable(env, name), source: name };
  };
  return {
    dataDir,
    databaseUrl: databaseUrl(setting(flags.databaseUrl, "database-url", "BODEGA_DATABASE_URL")),
    databaseAuthToken: headerText(env, "BODEGA_DATABASE_AUTH_TOKEN"),
    host: nonEmpty(setting(flags.host, "host", "BODEGA_HOST")) ?? defaultHost,
    port: integer(setting(flags.port, "port", "BODEGA_PORT"), 0, 65535) ?? defaultPort,
    workers: integer(setting(flags.workers, "workers", "BODEGA_WORKERS"), 1, 64) ?? 1,
    publicUrl: httpUrl(setting(flags.publicUrl, "public-url", "BODEGA_PUBLIC_URL")),
    trustedProxies: proxies(flags.trustedProxy, readVariable(env, "BODEGA_TRUSTED_PROXY")),
    log: logFormat(setting(flags.log, "log", "BODEGA_LOG")),
    secret: secretText(env, "BODEGA_SECRET"),
    smtpUrl: smtpUrl(env, "BODEGA_SMTP_URL"),
    mailFrom: mailFrom(env, "BODEGA_MAIL_FROM"),
    pushProviders: readPushProviders(env),
    allowPrivatePush: switched(setting(flags.allowPrivatePush, "allow-private-push", "BODEGA_PUSH_PRIVATE")),
    isWorker: environment.BODEGA_WORKER === "1",
    ...readOperation(flags, env),
  };
}

/**
 * Where the data directory is, as an absolute path.
 * @throws validationFailed for an empty one.
 */
export function readDataDir({ dataDir: flag }: ConfigFlags, env: Environment): string {
  const named =
    flag === undefined
      ? { value: readVariable(env, "BODEGA_DATA_DIR"), source: "BODEGA_DATA_DIR" }
      : { value: flag, source: "--data-dir" };
  return resolve(nonEmpty(named) ?? defaultDataDir);
}

function headerText(env: Environment, name: string): string | undefined {
  const value = readVariable(env, name);
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
    throw invalidSetting(name, "must be one line of visible ASCII");
  return value;
}

function secretText(env: Environment, name: string): string | undefined {
  const value = readVariable(env, name);
  if (value !== undefined && value.length < 32)
    throw invalidSetting(name, "must have at least 32 characters, all random");
  return value;
}

function smtpUrl(env: Environment, name: string): string | undefined {
  const value = readVariable(env, name);
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if ((url?.protocol !== "smtp:" && url?.protocol !== "smtps:") || url.hostname === "") {
    throw invalidSetting(name, "must be an smtp or smtps address, such as smtps://user:password@mail.example.com");
  }
  // Other programs switch checks off here; whoever tries it should hear that it does nothing.
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    throw invalidSetting(name, "must hold nothing after the host and port");
  }
  if (![url.username, url.password].every(isDecodable)) {
    throw invalidSetting(name, "has a user or password with a % that must be written as %25");
  }
  return value;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function mailFrom(env: Environment, name: string): string | undefined {
  const value = readVariable(env, name);
  if (value === undefined && smtpUrl(env, "BODEGA_SMTP_URL") !== undefined) {
    throw invalidSetting(name, "must name the sender of all mail, since BODEGA_SMTP_URL is set: shop@example.com");
  }
  if (value !== undefined && parseFromAddress(value) === null) {
    throw invalidSetting(name, "must be an address, such as shop@example.com or Some shop <shop@example.com>");
  }
  return value;
}

function nonEmpty({ value, source }: Setting): string | undefined {
  if (value !== undefined && value.trim() === "") throw invalidSetting(source, "must not be empty");
  return value;
}

function integer({ value, source }: Setting, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most))
    throw invalidSetting(source, `must be a whole number from ${least} to ${most}`);
  return number;
}

function databaseUrl({ value, source }: Setting): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !["http:", "https:", "libsql:", "ws:", "wss:"].includes(url.protocol)) {
    throw invalidSetting(
      source,
      "must begin with http:, https:, libsql:, ws: or wss:; a file is chosen with --data-dir",
    );
  }
  return value;
}

function httpUrl({ value, source }: Setting): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw invalidSetting(source, "must be an http or https address");
  // It is told to everybody.
  if (url.username !== "" || url.password !== "") throw invalidSetting(source, "must hold no user and no password");
  // What is added to it would stand in them.
  if (/[?#]/.test(value)) throw invalidSetting(source, "must hold no query and no fragment");
  return value.replace(/\/+$/, "");
}

function proxies(flags: string[] | undefined, variable: string | undefined): string[] {
  const source = flags ? "--trusted-proxy" : "BODEGA_TRUSTED_PROXY";
  const entries = (flags ?? [variable ?? ""]).flatMap((entry) => entry.split(","));
  return entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      if (ipaddr.isValidCIDR(entry)) return entry;
      if (ipaddr.isValid(entry)) return `${entry}/${ipaddr.parse(entry).kind() === "ipv4" ? 32 : 128}`;
      throw invalidSetting(source, `has an entry that is neither an address nor a CIDR range: ${entry}`);
    });
}

function logFormat({ value, source }: Setting): "text" | "json" {
  if (value === undefined) return "text";
  if (value !== "text" && value !== "json") throw invalidSetting(source, "must be text or json");
  return value;
}

function switched({ value, source }: Setting): boolean {
  if (value !== undefined && value !== "0" && value !== "1") throw invalidSetting(source, "must be 1 or 0");
  return value === "1";
}
