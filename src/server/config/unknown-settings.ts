import { suggestWord } from "../values/unknown-name.ts";
import { envFilePath, readEnvFile, splitEnvFile } from "./env-file.ts";
import type { Environment } from "./environment.ts";

const prefix = "BODEGA_";

/** The variables that this program reads, without their prefix. A test compares them with the source. */
export const settingNames =
  `DATA_DIR DATABASE_URL DATABASE_AUTH_TOKEN SECRET NAMESPACE HOST PORT WORKERS PUBLIC_URL TRUSTED_PROXY LOG LOG_LEVEL
TLS_CERT TLS_KEY METRICS METRICS_TOKEN BACKUP_EVERY BACKUP_TO BACKUP_KEEP S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY
S3_ENDPOINT S3_REGION SMTP_URL MAIL_FROM PUSH_PRIVATE FCM_CREDENTIALS APNS_KEY APNS_KEY_ID APNS_TEAM_ID APNS_TOPIC
APNS_SANDBOX`.split(/\s/);
const files = settingNames.filter((name) => name !== "NAMESPACE").map((name) => `${name}_FILE`);
const known = new Set([...settingNames, ...files]);

/**
 * The variables of the environment and of a data directory's env file that are no settings, with the nearest name, and
 * lines of the file that set nothing. Values are not repeated, because they may be secrets.
 * @throws validationFailed when the file cannot be read.
 */
export function findUnknownSettings(env: Environment, dataDir: string): { subject: string; message: string }[] {
  const path = envFilePath(dataDir);
  const { names, strayLines } = splitEnvFile(readEnvFile(dataDir) ?? "");
  const describe = (subject: string, place: string) => {
    const isOurs = subject.startsWith(prefix);
    const name = isOurs ? subject.slice(prefix.length) : subject;
    // Without the prefix, only a setting's name is a mistake: other programs may read the file as well.
    if (isOurs === known.has(name)) return [];
    const meant = isOurs ? suggestWord(name, known) : name;
    const hint = meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
    return [{ subject, message: `${subject} in ${place} is not a setting and has no effect.${hint}` }];
  };
  return [
    ...Object.keys(env).flatMap((name) => (name.startsWith(prefix) ? describe(name, "the environment") : [])),
    ...names.flatMap((name) => describe(name, path)),
    ...strayLines.map((line) => {
      const message = `Line ${line} of ${path} has no effect. A setting is a line such as BODEGA_PORT=8080.`;
      return { subject: `${path}:${line}`, message };
    }),
  ];
}
