import { attempt } from "../values/attempt.ts";
import { parseFromAddress } from "../values/email.ts";
import { readBackupConfig } from "./backup-config.ts";
import {
  type ConfigFlags,
  type Environment,
  invalidOption,
  matching,
  type Option,
  type Options,
  onOrOff,
  openOptions,
  parseOption,
  parseUrl,
} from "./environment.ts";
import { readPushProviders } from "./push-config.ts";
import { readServerConfig } from "./server-config.ts";

export type DatabaseConfig = ReturnType<typeof readDatabaseConfig>;

/** The configuration is parsed once and passed in. Commands read the parts that they need. */
export type Config = ReturnType<typeof readOptions>;

const tokenHint = "must be one line of visible ASCII characters";
const secretHint = "must have at least 32 random characters. Make one: openssl rand -base64 32";

const inheritedVariable = "BODEGA_CONFIG";

/**
 * A child process of this program inherits the configuration of its parent.
 * @throws validationFailed naming the flag or variable at fault; it never repeats a secret.
 */
export function readConfig(flags: ConfigFlags, environment: Environment): Config {
  const inherited = environment[inheritedVariable];
  if (inherited !== undefined) return JSON.parse(inherited) as Config;
  return readOptions(openOptions(flags, environment));
}

function readOptions(options: Options) {
  return {
    ...readDatabaseConfig(options),
    ...readServerConfig(options),
    ...readBackupConfig(options),
    ...readMailConfig(options),
    ...readPushConfig(options),
  };
}

export function inheritConfig(config: Config, env: Environment): Environment {
  return { ...env, [inheritedVariable]: JSON.stringify(config) };
}

export function readDatabaseConfig(options: Options) {
  return {
    dataDir: options.dataDir,
    /** Without it, the database is the file in the data directory. */
    databaseUrl: databaseUrl(options.get("BODEGA_DATABASE_URL", "database-url")),
    databaseAuthToken: matching(options.get("BODEGA_DATABASE_AUTH_TOKEN"), /^[\x21-\x7e]+$/, tokenHint),
    /** The file is read at each connection. */
    databaseAuthTokenFile: options.env.BODEGA_DATABASE_AUTH_TOKEN_FILE,
    /** Encrypts secrets in the database; undefined is the file `secret.key` in the data directory. */
    secret: matching(options.get("BODEGA_SECRET"), /^[\s\S]{32}/, secretHint),
  };
}

/** Mail stays in the outbox without the URL, which requires the sender. */
export function readMailConfig(options: Options) {
  const url = smtpUrl(options.get("BODEGA_SMTP_URL"));
  return { smtpUrl: url, mailFrom: mailFrom(options.get("BODEGA_MAIL_FROM"), url !== undefined) };
}

/** `allowPrivate` permits Web Push endpoints on a private network, and http. */
export function readPushConfig(options: Options) {
  return {
    pushProviders: readPushProviders(options.env),
    allowPrivatePush: onOrOff(options.get("BODEGA_PUSH_PRIVATE", "allow-private-push")),
  };
}

function databaseUrl(option: Option): string | undefined {
  const hint = "must begin with http:, https:, libsql:, ws: or wss:. To use a database file, set --data-dir";
  return parseOption(option, (value) => parseUrl(value, ["http:", "https:", "libsql:", "ws:", "wss:"]) && value, hint);
}

function smtpUrl({ value, source }: Option): string | undefined {
  if (value === undefined) return undefined;
  const url = parseUrl(value, ["smtp:", "smtps:"]);
  if (!url || url.hostname === "") {
    throw invalidOption(source, "must be an smtp or smtps URL, such as smtps://user:password@mail.example.com");
  }
  // Other programs take options here, such as ignoring certificates; an error is better than ignoring them.
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    throw invalidOption(source, "must end after the host and port: paths and queries are not supported");
  }
  if (attempt(() => decodeURIComponent(url.username + url.password)) === undefined) {
    throw invalidOption(source, "has a % in its user or password. Write it as %25");
  }
  return value;
}

function mailFrom({ value, source }: Option, isNeeded: boolean): string | undefined {
  if (value === undefined && isNeeded) {
    throw invalidOption(source, "is required with BODEGA_SMTP_URL. Set it to a sender, such as shop@example.com");
  }
  if (value !== undefined && parseFromAddress(value) === null) {
    throw invalidOption(source, "must be a mail address, such as shop@example.com or Some shop <shop@example.com>");
  }
  return value;
}
