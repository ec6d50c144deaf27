import { parseEnv } from "node:util";
import { suggestWord } from "../values/unknown-name.ts";
import { envFilePath, readEnvFile } from "./env-file.ts";
import type { Environment } from "./environment.ts";

const prefix = "BODEGA_";

/** The variables that this program reads, without their prefix. A test compares them with the source. */
export const settingNames =
  `DATA_DIR DATABASE_URL DATABASE_AUTH_TOKEN SECRET NAMESPACE HOST PORT WORKERS PUBLIC_URL TRUSTED_PROXY LOG LOG_LEVEL
TLS_CERT TLS_KEY METRICS METRICS_TOKEN BACKUP_EVERY BACKUP_TO BACKUP_KEEP REPLICATE_TO REPLICATE_KEEP S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY
AUDIT_ADDRESSES S3_ENDPOINT S3_REGION MEDIA SMTP_URL MAIL_FROM PUSH_PRIVATE FCM_CREDENTIALS APNS_KEY APNS_KEY_ID APNS_TEAM_ID APNS_TOPIC
APNS_SANDBOX`.split(/\s/);
const files = settingNames.filter((name) => name !== "NAMESPACE").map((name) => `${name}_FILE`);
const known = new Set([...settingNames, ...files]);

/**
 * The `BODEGA_` variables of the environment and of a data directory's env file that are no settings, with the nearest
 * name. Values are not repeated, because they may be secrets.
 * @throws validationFailed when the file cannot be read.
 */
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
