import { resolve } from "node:path";
import { MiB } from "../values/units.ts";
import { duration, integer, invalidOption, type Option, type Options, parseOption, parseUrl } from "./environment.ts";

/** Node's timers are limited to 24.8 days. */
const maxEveryMs = 21 * 86_400_000;
const everyHint = "from 1s to 21d, such as 24h. 0 turns backups off";
const hour = 3_600_000;
const keepHint = "from 1h to 365d, such as 72h";

export function readBackupConfig(options: Options) {
  const { get } = options;
  const every = get("BODEGA_BACKUP_EVERY", "backup-every");
  return {
    /** In milliseconds; undefined makes no backups. */
    backupEveryMs: every.value === "0" ? undefined : duration(every, 1000, maxEveryMs, everyHint),
    /** Without it, backups go to `backups` in the data directory. */
    backupTo: backupDestination(get("BODEGA_BACKUP_TO", "backup-to")),
    backupKeep: integer(get("BODEGA_BACKUP_KEEP", "backup-keep"), 1, 99_999) ?? 7,
    replicateTo: backupDestination(get("BODEGA_REPLICATE_TO", "replicate-to")),
    replicateKeepMs:
      duration(get("BODEGA_REPLICATE_KEEP", "replicate-keep"), hour, 365 * 24 * hour, keepHint) ?? 72 * hour,
    replicateWalBytes: (integer(get("BODEGA_REPLICATE_WAL", "replicate-wal"), 64, 65_536) ?? 256) * MiB,
    ...readMediaConfig(options),
  };
}

/** Pictures go to `s3://bucket/prefix`, or to the database if undefined. */
export function readMediaConfig({ get }: Options) {
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
