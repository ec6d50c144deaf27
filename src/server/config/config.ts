import { resolve } from "node:path";
import { attempt } from "../values/attempt.ts";
import { parseFromAddress } from "../values/email.ts";
import {
  type ConfigFlags,
  duration,
  type Environment,
  integer,
  invalidOption,
  matching,
  type Option,
  type Options,
  onOrOff,
  openOptions,
  parseOption,
  parseUrl,
} from "./environment.ts";
import { readServerConfig } from "./server-config.ts";

export type DatabaseConfig = ReturnType<typeof readDatabaseConfig>;

/** The configuration of a server. It is parsed once and passed to functions. Commands read only parts of it. */
export type Config = ReturnType<typeof readOptions>;

const tokenHint = "must be one line of visible ASCII characters";
const secretHint = "must have at least 32 random characters. Make one: openssl rand -base64 32";

const inheritedVariable = "BODEGA_CONFIG";

/**
 * Returns the configuration. A child process of this program inherits that of its parent.
 * @throws validationFailed, which names the invalid flag or variable and repeats no secret.
 */
export function readConfig(flags: ConfigFlags, environment: Environment): Config {
  return readInheritedConfig(environment) ?? readOptions(openOptions(flags, environment));
}

/** Returns the configuration of the server that started this process; undefined if no server did. */
export function readInheritedConfig(environment: Environment): Config | undefined {
  const inherited = environment[inheritedVariable];
  return inherited === undefined ? undefined : (JSON.parse(inherited) as Config);
}

function readOptions(options: Options) {
  return {
    ...readDatabaseConfig(options),
    ...readServerConfig(options),
    ...readBackupConfig(options),
    ...readMailConfig(options),
    /** Permits Web Push endpoints that are on a private network or use http. */
    allowPrivatePush: onOrOff(options.get("BODEGA_PUSH_PRIVATE", "allow-private-push")),
    /** The URL of Stripe's API; undefined means the real one. Tests and the demo use a stand-in. */
    stripeUrl: parseOption(options.get("BODEGA_STRIPE_URL"), originOf, "must be an http or https URL"),
  };
}

export function inheritConfig(config: Config, env: Environment): Environment {
  return { ...env, [inheritedVariable]: JSON.stringify(config) };
}

export function readDatabaseConfig(options: Options) {
  return {
    dataDir: options.dataDir,
    databaseUrl: databaseUrl(options.get("BODEGA_DATABASE_URL", "database-url")),
    databaseAuthToken: matching(options.get("BODEGA_DATABASE_AUTH_TOKEN"), /^[\x21-\x7e]+$/, tokenHint),
    databaseAuthTokenFile: options.env.BODEGA_DATABASE_AUTH_TOKEN_FILE,
    /** Encrypts secrets in the database. If it is undefined, the file `secret.key` in the data directory is used. */
    secret: matching(options.get("BODEGA_SECRET"), /^[\s\S]{32}/, secretHint),
  };
}

/** Without the URL, mail stays in the outbox. With the URL, the sender `mailFrom` is required. */
function readMailConfig(options: Options) {
  const url = smtpUrl(options.get("BODEGA_SMTP_URL"));
  return { smtpUrl: url, mailFrom: mailFrom(options.get("BODEGA_MAIL_FROM"), url !== undefined) };
}

const originOf = (value: string) => parseUrl(value, ["http:", "https:"])?.origin;

export const paymentOptions = ({ stripeUrl, publicUrl }: Pick<Config, "stripeUrl" | "publicUrl">) => ({
  stripeUrl,
  publicUrl,
});

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
  // Other programs read options from such URLs, for example to ignore certificates. Bodega refuses such options.
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

/** Maximum interval between backups. Timers cannot wait longer than 24.8 days. */
const maxEveryMs = 21 * 86_400_000;
const everyHint = "from 1s to 21d, such as 24h. 0 turns backups off";
const hour = 3_600_000;
const keepHint = "from 1h to 365d, such as 72h";

function readBackupConfig(options: Options) {
  const { get } = options;
  const every = get("BODEGA_BACKUP_EVERY", "backup-every");
  return {
    backupEveryMs: every.value === "0" ? undefined : duration(every, 1000, maxEveryMs, everyHint),
    backupTo: backupDestination(get("BODEGA_BACKUP_TO", "backup-to")),
    backupKeep: integer(get("BODEGA_BACKUP_KEEP", "backup-keep"), 1, 99_999) ?? 7,
    replicateTo: backupDestination(get("BODEGA_REPLICATE_TO", "replicate-to")),
    replicateKeepMs:
      duration(get("BODEGA_REPLICATE_KEEP", "replicate-keep"), hour, 365 * 24 * hour, keepHint) ?? 72 * hour,
    ...readMediaConfig(options),
  };
}

/** In the result, `media` is where pictures are stored, such as `s3://bucket/prefix`; undefined means the database. */
function readMediaConfig({ get }: Options) {
  const option = get("BODEGA_MEDIA");
  const { value = "database", source } = option;
  const isDatabase = value === "database";
  if (!isDatabase && !value.startsWith("s3:")) {
    throw invalidOption(source, "must be database, s3://bucket or s3://bucket/prefix");
  }
  return { media: isDatabase ? undefined : backupDestination(option), s3: s3Account(get) };
}

export function backupDestination({ value, source }: Option): string | undefined {
  if (value === undefined) return undefined;
  if (!value.startsWith("s3:")) return resolve(value);
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(value)) {
    throw invalidOption(source, "must be a directory, s3://bucket or s3://bucket/prefix");
  }
  return value;
}

function s3Account(get: Options["get"]) {
  const names = ["BODEGA_S3_ACCESS_KEY_ID", "BODEGA_S3_SECRET_ACCESS_KEY"] as const;
  const [accessKeyId, secretAccessKey] = names.map((name) => get(name).value);
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined) throw invalidOption(names[0], `is required with ${names[1]}`);
  if (secretAccessKey === undefined) throw invalidOption(names[1], `is required with ${names[0]}`);
  const readUrl = (value: string) => parseUrl(value, ["http:", "https:"]) && value;
  const endpoint = parseOption(get("BODEGA_S3_ENDPOINT"), readUrl, "must be an http or https URL");
  const { value: region } = get("BODEGA_S3_REGION");
  return { accessKeyId, secretAccessKey, ...(endpoint && { endpoint }), ...(region && { region }) };
}
