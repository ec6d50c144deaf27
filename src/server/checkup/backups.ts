import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { get, statement } from "../db/statement.ts";
import { auditLog } from "../modules/audit/table.ts";
import type { Checkup, CheckupDeps } from "./finding.ts";
import { formatSpan } from "./wording.ts";

const day = 86_400_000;
const hour = 3_600_000;
const oldMs = 7 * day;

const selectLast = statement<{ made: string | null; first: string | null }>(sql`
  select (select at from ${auditLog} where event = 'database.backed_up' and code is null order by seq desc limit 1) as made,
    (select at from ${auditLog} order by seq limit 1) as first`);

/** Whether there is a backup, and how old it is. */
export const backups: Checkup = {
  name: "backups",
  async find(about) {
    const { ctx, now, config, command } = about;
    if (ctx === null) return [];
    const row = await get(ctx.db.primary, selectLast);
    const last = Math.max(newestFile(about), row?.made ? Date.parse(row.made) : 0);
    const subject = config.backupTo ?? join(config.dataDir, "backups");
    const remedy = command("db backup");
    const advice = "Have the server make them with --backup-every 24h, and keep copies on another machine.";
    if (last === 0) {
      const ageMs = row?.first ? now() - Date.parse(row.first) : 0;
      const message = `There is no backup of this database yet. ${advice}`;
      return [{ severity: ageMs < day ? "note" : "warning", subject, message, remedy }];
    }
    const ageMs = now() - last;
    const most = config.backupEveryMs === undefined ? oldMs : 2 * config.backupEveryMs + hour;
    if (ageMs <= most) return [];
    return [
      { severity: "warning", subject, message: `The last backup is ${formatSpan(ageMs)} old. ${advice}`, remedy },
    ];
  },
};

/** When the newest backup in a folder was made, in epoch milliseconds; 0 for none, and for one that is elsewhere. */
function newestFile({ config }: CheckupDeps): number {
  const { dataDir, backupTo = join(dataDir, "backups") } = config;
  try {
    return readdirSync(backupTo)
      .filter((name) => name.startsWith("bodega-") && !name.endsWith(".partial"))
      .reduce((newest, name) => Math.max(newest, statSync(join(backupTo, name)).mtimeMs), 0);
  } catch {
    return 0;
  }
}
