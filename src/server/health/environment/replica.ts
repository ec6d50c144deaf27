import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { isServerRunning } from "../../db/local/server-lock.ts";
import { get, statement } from "../../db/statement.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { formatDuration } from "../../values/duration.ts";
import type { Checkup } from "./finding.ts";

const lateMs = 60_000;

const selectNewest = statement<{ at: string | null }>(sql`
  select at from ${auditLog} order by seq desc limit 1`);

/**
 * Whether the copies of an embedded replica follow their primary. They belong to the server that works on them, so only the
 * time of their last change is looked at.
 */
export const replica: Checkup = {
  name: "replica",
  async find({ ctx, config: { dataDir, databaseSyncUrl }, now }) {
    if (databaseSyncUrl === undefined || ctx === null || !(await isServerRunning(dataDir))) return [];
    const newest = (await get(ctx.db.primary, selectNewest))?.at;
    const written = newest ? Date.parse(newest) : 0;
    const taken = newestCopy(dataDir);
    if (written - taken < lateMs || now() - written < lateMs) return [];
    return [
      {
        severity: "warning",
        subject: join(dataDir, "replica.db"),
        message: `The local copy of ${new URL(databaseSyncUrl).host} is ${formatDuration(written - taken)} behind what was written there.`,
        remedy: "See the server's log, and restart the server: the copy is fetched again where it does not fit.",
      },
    ];
  },
};

/** When any of the copies was last changed, in epoch milliseconds. */
function newestCopy(dataDir: string): number {
  return readdirSync(dataDir)
    .filter((name) => /^replica(?:-\d+)?\.db(?:-wal)?$/.test(name))
    .reduce((newest, name) => Math.max(newest, statSync(join(dataDir, name)).mtimeMs), 0);
}
