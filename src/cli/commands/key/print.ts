import { keyState } from "../../../server/modules/app-keys/key-state.ts";
import type { Console } from "../../terminal/console.ts";
import { fitSentence, printJson, printRecord, warn } from "../../terminal/output.ts";
import { formatRelativeTime, formatTime } from "../../terminal/relative-time.ts";
import type { AppKeyDetails } from "./app-key.ts";

type Secret = AppKeyDetails["secrets"][number];

const dayMs = 86_400_000;
const soonMs = 30 * dayMs;

/** Prints one key: a JSON object, its id only, or all of it for people: what it is, then a paragraph for each secret. */
export async function printKeySheet(console: Console, key: AppKeyDetails, now: number): Promise<void> {
  if (console.json) return printJson(console, key);
  const { active: _active, published: _published, secrets, ...rest } = key;
  const { app_id, namespace, name, scopes, origins, enforce_origins, allow_no_origin } = rest;
  const record = {
    app_id,
    namespace,
    name,
    state: keyState(key, now),
    scopes,
    origins: enforce_origins ? origins : "any",
    ...(enforce_origins && { without_origin: allow_no_origin ? "allowed" : "refused" }),
    created: formatTime(key.created_at, now),
    expires: formatTime(key.expires_at, now),
    ...(key.revoked_at !== null && { revoked: formatTime(key.revoked_at, now) }),
    last_used: formatTime(key.last_used_at, now),
  };
  await printRecord(console, record, "app_id");
  if (console.quiet || secrets.length === 0) return;
  const lines = secrets.flatMap((secret) => ["", ...describeSecret(secret, key, now)]);
  await console.write(lines.map((line) => `${fitSentence(console, line)}\n`).join(""));
}

function describeSecret(secret: Secret, key: AppKeyDetails, now: number): string[] {
  const isNewest = secret.may_go === null;
  const { expires_at } = secret;
  const hasEnded = expires_at !== null && Date.parse(expires_at) <= now;
  const until = expires_at === null ? "the key is rotated" : formatTime(expires_at, now);
  const lines = [
    isNewest ? "Present secret" : "Old secret",
    `  Made         ${formatTime(secret.created_at, now)}`,
    `  Last used    ${formatTime(secret.last_used_at, now)}`,
    `  Valid until  ${until}`,
  ];
  if (!isNewest && !hasEnded) lines.push(`  ${judge(secret, key, now)}`);
  return lines;
}

/** Whether an old secret can be ended now, why, and how. */
function judge(secret: Secret, key: AppKeyDetails, now: number): string {
  const newest = key.secrets[0] as Secret;
  const retire = `bodega key retire ${key.app_id}`;
  const isUsedSince = secret.last_used_at !== null && secret.last_used_at >= newest.created_at;
  if (secret.may_go) {
    const why = isUsedSince ? "it has not been used for a day" : "it has not been used since the present one was made";
    return `It may go now: ${why}, and the present one is in use. End it: ${retire}`;
  }
  if (newest.last_used_at === null) return "It has to stay: nobody has used the present one yet.";
  const last = formatRelativeTime(secret.last_used_at, now);
  if (isUsedSince) return `It has to stay: it was used ${last}, since the present one was made. Somebody still has it.`;
  return `Look again in a minute or two: it was used ${last}, just before the present one was made.`;
}

/**
 * Says of each key in force that expires within thirty days or has expired, and which overlap ends while it is used;
 * with `-q` nothing, since they are remarks to a list.
 */
export async function warnOfKeys(console: Console, keys: readonly AppKeyDetails[], now: number): Promise<void> {
  if (console.json || console.quiet) return;
  for (const key of keys) for (const warning of findWarnings(key, now)) await warn(console, warning);
}

function findWarnings(key: AppKeyDetails, now: number): string[] {
  if (key.revoked_at !== null) return [];
  const subject = `${key.name} (${key.app_id})`;
  const leftMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now;
  const prolong = `bodega key update ${key.app_id} --expires 90d`;
  if (leftMs <= 0) {
    return [`${subject} expired ${formatTime(key.expires_at, now)}: calls with it fail. Prolong it: ${prolong}`];
  }
  const warnings = key.secrets
    .filter(({ may_go, expires_at }) => may_go === false && Date.parse(expires_at ?? "") - now <= dayMs)
    .map(({ expires_at, last_used_at }) => {
      const used =
        last_used_at === null
          ? "the present one was never used"
          : `it was used ${formatRelativeTime(last_used_at, now)}`;
      return `an old secret of ${subject} ends ${formatTime(expires_at, now)}, and ${used}.`;
    });
  if (leftMs <= soonMs)
    warnings.unshift(`${subject} expires ${formatTime(key.expires_at, now)}. Prolong it: ${prolong}`);
  return warnings;
}
