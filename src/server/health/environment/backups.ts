import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { sql } from "drizzle-orm";
import { readLast } from "../../backup/last.ts";
import { backupsFolder } from "../../backup/location.ts";
import { shouldReplicate } from "../../backup/schedule.ts";
import { get, statement } from "../../db/statement.ts";
import { errnoOf } from "../../errors.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { type EnvironmentCheck, finding, type Severity } from "../finding.ts";

const hour = 3_600_000;
const day = 24 * hour;

// A libSQL database has one audit log, and a directory of backups on each machine that made some.
const selectLast = statement<{ at: string; place: string | null }>(sql`
  select at, json_extract(details, '$.backup') as place from ${auditLog}
  where event = 'database.backed_up' and code is null order by seq desc limit 1`);
const selectFirst = statement<{ at: string }>(sql`select at from ${auditLog} order by seq limit 1`);

export const backups = {
  id: "backups",
  about: "There is a recent backup, its file still exists, and the last attempt succeeded.",
  reads: "database",
  async run({ ctx, now, config, command }) {
    const subject = config.backupTo ?? backupsFolder(config.dataDir);
    const describe = (message: string, severity: Severity = "warning") =>
      finding(severity, subject, message, command("db backup"));
    const { last_success: success, last_failure: failure } = readLast(config.dataDir, "backup");
    const found = failure === null ? [] : [describe(`The last backup failed at ${failure.at}: ${failure.message}`)];
    const frequent =
      "The server makes a backup every few minutes. A replica costs less and loses about a second at most.";
    if (shouldReplicate(config)) found.push(finding("note", subject, frequent, "Use --replicate-to."));
    const audited = await get(ctx.db, selectLast);
    const last = Math.max(...[success?.at, audited?.at].map((at) => (at ? Date.parse(at) : 0)));
    const advice = "Let the server make backups with --backup-every 24h, and keep copies on another machine.";
    if (last === 0) {
      const first = await get(ctx.db, selectFirst);
      const isNew = first === undefined || now() - Date.parse(first.at) < day;
      return [...found, describe(`There is no backup of this database. ${advice}`, isNew ? "note" : "warning")];
    }
    const age = formatDuration(now() - last);
    // A backup in the log of a libSQL database may be on another machine.
    const isFile = config.databaseUrl === undefined;
    const place = success && Date.parse(success.at) >= last ? success.place : isFile ? audited?.place : undefined;
    if (place && isGone(place)) {
      return [...found, describe(`The last backup, made ${age} ago, is no longer at ${place}.`)];
    }
    const maxAgeMs = config.backupEveryMs === undefined ? 7 * day : 2 * config.backupEveryMs + hour;
    return now() - last <= maxAgeMs ? found : [...found, describe(`The last backup is ${age} old. ${advice}`)];
  },
} satisfies EnvironmentCheck;

/** Whether a file is missing or empty. Object storage is not read. */
function isGone(place: string): boolean {
  if (!isAbsolute(place)) return false;
  try {
    return statSync(place).size === 0;
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(errnoOf(error));
  }
}
