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
const withoutFile = "NAMESPACE";
const known = new Set([...settingNames, ...settingNames.map((name) => `${name}_FILE`)]);
known.delete(`${withoutFile}_FILE`);

/** Sets nothing: the variable or the line, and why. It never repeats a value, which may be a secret. */
interface UnknownSetting {
  subject: string;
  message: string;
}

/**
 * The variables of the environment and of a data directory's env file that no setting has, and lines of the file that
 * set nothing. They are misspelt, or of another version.
 * @throws validationFailed when the file cannot be read.
 */
export function findUnknownSettings(env: Environment, dataDir: string): UnknownSetting[] {
  const path = envFilePath(dataDir);
  const { names, strayLines } = splitEnvFile(readEnvFile(dataDir) ?? "");
  return [
    ...describeUnknown(Object.keys(env).filter(isOurs), "the environment"),
    // Without the prefix, only a setting's name is a mistake: other programs may read the file as well.
    ...describeUnknown(
      names.filter((name) => isOurs(name) || known.has(name)),
      path,
    ),
    ...strayLines.map((line) => {
      const subject = `${path}:${line}`;
      return { subject, message: `Line ${line} of ${path} has no effect. A setting is a line such as BODEGA_PORT=8080.` };
    }),
  ];
}

function isOurs(name: string): boolean {
  return name.startsWith(prefix);
}

function describeUnknown(names: string[], place: string): UnknownSetting[] {
  return names.flatMap((subject) => {
    const name = isOurs(subject) ? subject.slice(prefix.length) : subject;
    if (isOurs(subject) && known.has(name)) return [];
    const meant = known.has(name) ? name : suggestWord(name, known);
    const hint = meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
    return [{ subject, message: `${subject} in ${place} is not a setting and has no effect.${hint}` }];
  });
}
