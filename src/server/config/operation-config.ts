import { resolve } from "node:path";
import { parseDuration } from "../values/duration.ts";
import { type Environment, invalidSetting, readVariable, type Setting } from "./environment.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;

/** How much the log says; each level includes those after it. */
export type LogLevel = (typeof logLevels)[number];

/** Where a server presents its certificate from; absolute paths of PEM files. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Credentials of an S3 store. */
export interface S3Account {
  /** Undefined for Amazon's own. */
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

/** What a server does beside answering: how it is watched and backed up. */
export interface OperationConfig {
  logLevel: LogLevel;
  tls: TlsFiles | undefined;
  /** A listener of its own for `/metrics`. */
  metrics: { host: string; port: number } | undefined;
  /** Opens `/metrics` to who sends it, also at the server's own address. */
  metricsToken: string | undefined;
  /** Milliseconds from one backup to the next; undefined makes none. */
  backupEveryMs: number | undefined;
  /** Absolute folder, or `s3://bucket/prefix`; undefined is `backups` in the data directory. */
  backupTo: string | undefined;
  /** How many backups stay; older ones are removed. */
  backupKeep: number;
  s3: S3Account | undefined;
}

/** Flags of the command line, as texts; a flag that was not given is undefined. */
export interface OperationFlags {
  logLevel?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  metrics?: string | undefined;
  backupEvery?: string | undefined;
  backupTo?: string | undefined;
  backupKeep?: string | undefined;
}

export const defaultBackupKeep = 7;

/**
 * Reads what belongs to running a server; flags beat the environment.
 * @throws validationFailed that names the flag or variable at fault.
 */
export function readOperation(flags: OperationFlags, env: Environment): OperationConfig {
  const setting = (flag: string | undefined, flagName: string, name: string): Setting =>
    flag === undefined ? { value: readVariable(env, name), source: name } : { value: flag, source: `--${flagName}` };
  return {
    logLevel: readLevel(setting(flags.logLevel, "log-level", "BODEGA_LOG_LEVEL")),
    tls: readTls(
      setting(flags.tlsCert, "tls-cert", "BODEGA_TLS_CERT"),
      setting(flags.tlsKey, "tls-key", "BODEGA_TLS_KEY"),
    ),
    metrics: readListener(setting(flags.metrics, "metrics", "BODEGA_METRICS")),
    metricsToken: readToken(env, "BODEGA_METRICS_TOKEN"),
    backupEveryMs: readEvery(setting(flags.backupEvery, "backup-every", "BODEGA_BACKUP_EVERY")),
    backupTo: readBackupPlace(setting(flags.backupTo, "backup-to", "BODEGA_BACKUP_TO")),
    backupKeep: readKeep(setting(flags.backupKeep, "backup-keep", "BODEGA_BACKUP_KEEP")),
    s3: readS3(env),
  };
}

/**
 * A folder as an absolute path, or an `s3://bucket/prefix` as it is.
 * @throws validationFailed that names the flag or variable.
 */
export function readBackupPlace({ value, source }: Setting): string | undefined {
  if (value === undefined) return undefined;
  if (!value.startsWith("s3:")) return resolve(value);
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(value)) {
    throw invalidSetting(source, "must be a folder, or s3://bucket or s3://bucket/prefix");
  }
  return value;
}

function readLevel({ value, source }: Setting): LogLevel {
  if (value === undefined) return "info";
  const level = logLevels.find((one) => one === value);
  if (level === undefined) throw invalidSetting(source, `must be one of ${logLevels.join(", ")}`);
  return level;
}

function readTls(cert: Setting, key: Setting): TlsFiles | undefined {
  if (cert.value === undefined && key.value === undefined) return undefined;
  // Named in the way in which the other one came.
  const nameOf = (missing: Setting, flag: string, other: Setting) =>
    other.source.startsWith("--") ? flag : missing.source;
  if (cert.value === undefined) throw invalidSetting(nameOf(cert, "--tls-cert", key), `is needed beside ${key.source}`);
  if (key.value === undefined) throw invalidSetting(nameOf(key, "--tls-key", cert), `is needed beside ${cert.source}`);
  return { cert: resolve(cert.value), key: resolve(key.value) };
}

function readListener({ value, source }: Setting): { host: string; port: number } | undefined {
  if (value === undefined) return undefined;
  const [, bracketed, plain, digits] = /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(value) ?? [];
  const port = digits === undefined ? Number.NaN : Number(digits);
  if (!(port >= 0 && port <= 65535)) throw invalidSetting(source, "must be a port, or host:port: 127.0.0.1:9090");
  return { host: bracketed ?? plain ?? "127.0.0.1", port };
}

function readToken(env: Environment, name: string): string | undefined {
  const value = readVariable(env, name);
  if (value !== undefined && !/^[\x21-\x7e]{16,}$/.test(value)) {
    throw invalidSetting(name, "must have at least 16 characters, visible ASCII");
  }
  return value;
}

function readEvery({ value, source }: Setting): number | undefined {
  if (value === undefined || value === "0") return undefined;
  const ms = parseDuration(value);
  // A timer takes no more than 24.8 days.
  if (ms === undefined || ms < 1000 || ms > 21 * 86_400_000) {
    throw invalidSetting(source, "must be a span from 1s to 21d, such as 24h; 0 makes none");
  }
  return ms;
}

function readKeep({ value, source }: Setting): number {
  if (value === undefined) return defaultBackupKeep;
  if (!/^[1-9]\d{0,4}$/.test(value)) throw invalidSetting(source, "must be a whole number from 1 to 99999");
  return Number(value);
}

function readS3(env: Environment): S3Account | undefined {
  const [accessKeyId, secretAccessKey] = ["BODEGA_S3_ACCESS_KEY_ID", "BODEGA_S3_SECRET_ACCESS_KEY"].map((name) =>
    readVariable(env, name),
  );
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined)
    throw invalidSetting("BODEGA_S3_ACCESS_KEY_ID", "is needed beside BODEGA_S3_SECRET_ACCESS_KEY");
  if (secretAccessKey === undefined)
    throw invalidSetting("BODEGA_S3_SECRET_ACCESS_KEY", "is needed beside BODEGA_S3_ACCESS_KEY_ID");
  const endpoint = readVariable(env, "BODEGA_S3_ENDPOINT");
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) {
    throw invalidSetting("BODEGA_S3_ENDPOINT", "must be an http or https address");
  }
  return { accessKeyId, secretAccessKey, endpoint, region: readVariable(env, "BODEGA_S3_REGION") };
}
