import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { sql } from "drizzle-orm";
import { readLastBackups } from "../../backup/last.ts";
import { backupsFolder } from "../../backup/location.ts";
import { get, statement } from "../../db/statement.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { formatDuration } from "../../values/duration.ts";
import type { Checkup, Finding } from "./finding.ts";

const day = 86_400_000;
const hour = 3_600_000;
const oldMs = 7 * day;

// Of a database server there is one log, and a folder of backups on each machine that made some.
const selectLast = statement<{ at: string; place: string | null }>(sql`
  select at, json_extract(details, '$.backup') as place from ${auditLog}
  where event = 'database.backed_up' and code is null order by seq desc limit 1`);
const selectFirst = statement<{ at: string }>(sql`select at from ${auditLog} order by seq limit 1`);

/** Whether there is a backup and still lies where it was put, how old it is, and whether the last attempt failed. */
export const backups: Checkup = {
  name: "backups",
  async find({ ctx, now, config, command }) {
    if (ctx === null) return [];
    const subject = config.backupTo ?? backupsFolder(config.dataDir);
    const remedy = command("db backup");
    const finding = (severity: Finding["severity"], message: string): Finding => ({
      severity,
      subject,
      message,
      remedy,
    });
    const { last_success: success, last_failure: failure } = readLastBackups(config.dataDir);
    const made = await get(ctx.db, selectLast);
    const last = Math.max(...[success?.at, made?.at].map((at) => (at ? Date.parse(at) : 0)));
    const failed =
      failure === null ? [] : [finding("warning", `The last attempt failed at ${failure.at}: ${failure.message}`)];
    const advice = "Have the server make them with --backup-every 24h, and keep copies on another machine.";
    if (last === 0) {
      const first = await get(ctx.db, selectFirst);
      const ageMs = first === undefined ? 0 : now() - Date.parse(first.at);
      const severity = ageMs < day ? "note" : "warning";
      return [...failed, finding(severity, `There is no backup of this database yet. ${advice}`)];
    }
    const ageMs = now() - last;
    // What a database server's log names may lie on another machine; a file's own folder may be gone with what it knew.
    const isFile = config.databaseUrl === undefined;
    const place = success && Date.parse(success.at) >= last ? success.place : isFile ? made?.place : undefined;
    if (place && isGone(place)) {
      const message = `The last backup, made ${formatDuration(ageMs)} ago, is not at ${place} any more. Unless you have moved it, it is lost.`;
      return [...failed, finding("warning", message)];
    }
    const most = config.backupEveryMs === undefined ? oldMs : 2 * config.backupEveryMs + hour;
    return ageMs <= most
      ? failed
      : [...failed, finding("warning", `The last backup is ${formatDuration(ageMs)} old. ${advice}`)];
  },
};

/** Whether a file is missing or empty; object storage is not asked, and a folder that may not be looked into says nothing. */
function isGone(place: string): boolean {
  if (!isAbsolute(place)) return false;
  try {
    return (statSync(place, { throwIfNoEntry: false })?.size ?? 0) === 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR";
  }
}
