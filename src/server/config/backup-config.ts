import { resolve } from "node:path";
import { MiB } from "../values/bytes.ts";
import type { Options } from "./env-file.ts";
import { duration, integer, invalidOption, type Option, parseUrl } from "./environment.ts";

/** Node's timers take at most 24.8 days. */
const maxEveryMs = 21 * 86_400_000;
const everyHint = "from 1s to 21d, such as 24h. 0 turns backups off";
const hour = 3_600_000;
const keepHint = "from 1h to 365d, such as 72h";

/** Reads where backups and the replica go, and how often a server makes backups. */
export function readBackupConfig(options: Options) {
  const { get } = options;
  const every = get("BODEGA_BACKUP_EVERY", "backup-every");
  return {
    /** Milliseconds between backups of a server; undefined makes none. */
    backupEveryMs: every.value === "0" ? undefined : duration(every, 1000, maxEveryMs, everyHint),
    /** Absolute folder, or `s3://bucket/prefix`; undefined is `backups` in the data directory. */
    backupTo: backupDestination(get("BODEGA_BACKUP_TO", "backup-to")),
    /** How many backups to keep; older ones are removed. */
    backupKeep: integer(get("BODEGA_BACKUP_KEEP", "backup-keep"), 1, 99_999) ?? 7,
    /** Where a server keeps a replica: an absolute folder, or `s3://bucket/prefix`; undefined keeps none. */
    replicateTo: backupDestination(get("BODEGA_REPLICATE_TO", "replicate-to")),
    /** For how long each state can be restored from the replica, in milliseconds. */
    replicateKeepMs:
      duration(get("BODEGA_REPLICATE_KEEP", "replicate-keep"), hour, 365 * 24 * hour, keepHint) ?? 72 * hour,
    /** Up to which size the WAL waits for the replica, in bytes. */
    replicateWalBytes: (integer(get("BODEGA_REPLICATE_WAL", "replicate-wal"), 64, 65_536) ?? 256) * MiB,
    ...readMediaConfig(options),
  };
}

/** Reads where new pictures go, `s3://bucket/prefix` or undefined for the database, and the account of S3. */
export function readMediaConfig({ get }: Options) {
  const option = get("BODEGA_MEDIA");
  const { value = "database", source } = option;
  const isDatabase = value === "database";
  if (!isDatabase && !value.startsWith("s3:")) {
    throw invalidOption(source, "must be database, s3://bucket or s3://bucket/prefix");
  }
  return { media: isDatabase ? undefined : backupDestination(option), s3: s3Account(get) };
}

/** A folder as an absolute path, or `s3://bucket/prefix` unchanged. */
export function backupDestination({ value, source }: Option): string | undefined {
  if (value === undefined) return undefined;
  if (!value.startsWith("s3:")) return resolve(value);
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(value)) {
    throw invalidOption(source, "must be a directory, s3://bucket or s3://bucket/prefix");
  }
  return value;
}

/** Without an endpoint, Amazon's. */
function s3Account(get: Options["get"]) {
  const names = ["BODEGA_S3_ACCESS_KEY_ID", "BODEGA_S3_SECRET_ACCESS_KEY"] as const;
  const [accessKeyId, secretAccessKey] = names.map((name) => get(name).value);
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined) throw invalidOption(names[0], `is required with ${names[1]}`);
  if (secretAccessKey === undefined) throw invalidOption(names[1], `is required with ${names[0]}`);
  const { value: endpoint, source } = get("BODEGA_S3_ENDPOINT");
  if (endpoint !== undefined && !parseUrl(endpoint, ["http:", "https:"])) {
    throw invalidOption(source, "must be an http or https URL");
  }
  const { value: region } = get("BODEGA_S3_REGION");
  return { accessKeyId, secretAccessKey, ...(endpoint && { endpoint }), ...(region && { region }) };
}
