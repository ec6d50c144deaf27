import { randomUUID } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { get, statement } from "../../db/statement.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { events } from "../../modules/events/table.ts";
import { formatDuration } from "../../values/duration.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

const minute = 60_000;
/** One-time codes bear half a minute; the rest bears more. */
const wrongMs = 5 * minute;
const remedy = "timedatectl set-ntp true";

// The newest rows by their place: what was written last, whatever the clock said.
const selectNewest = statement<{ at: string | null }>(sql`
  select max(at) as at from (
    select * from (select at from ${auditLog} order by seq desc limit 1)
    union all select * from (select created_at as at from ${events} order by sequence desc limit 1))`);

/**
 * This machine's clock against all others that can be asked: what was written last, the file system's, the database server's,
 * and that of whoever answers under the public address.
 */
export const clock: Checkup = {
  name: "clock",
  async find(about) {
    const looks = await Promise.all([
      findBeforeBuild(about),
      findBehindData(about),
      findFileSystem(about),
      findDatabaseServer(about),
      findPublicAddress(about),
    ]);
    return looks.flat();
  },
};

function findBeforeBuild({ now, builtAt }: CheckupDeps): Finding[] {
  if (now() > builtAt - 86_400_000) return [];
  return [
    {
      severity: "error",
      subject: "clock",
      message: `The clock says ${toText(now())}, which is before this program was made.`,
      remedy,
    },
  ];
}

async function findBehindData({ ctx, now }: CheckupDeps): Promise<Finding[]> {
  const newest = ctx === null ? null : (await get(ctx.db, selectNewest))?.at;
  const ahead = typeof newest === "string" ? Date.parse(newest) - now() : 0;
  if (!(ahead > minute)) return [];
  return [
    {
      severity: ahead > wrongMs ? "error" : "warning",
      subject: "clock",
      message: `The clock says ${toText(now())}, and something was written ${formatDuration(ahead)} later, at ${newest}.`,
      remedy,
    },
  ];
}

async function findFileSystem({ config: { dataDir }, now }: CheckupDeps): Promise<Finding[]> {
  const path = join(dataDir, `.clock-${randomUUID()}`);
  try {
    const before = now();
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
    const { mtimeMs } = statSync(path);
    rmSync(path);
    return describeSkew("the file system's", dataDir, mtimeMs, before, now());
  } catch {
    // Another check says that the folder cannot be written.
    return [];
  }
}

async function findDatabaseServer({ db, now }: CheckupDeps): Promise<Finding[]> {
  if (db === null || db.kind === "file" || db.kind === "memory") return [];
  const before = now();
  const { rows } = await db.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at");
  return describeSkew("the database server's", "clock", Date.parse(String(rows[0]?.at)), before, now());
}

async function findPublicAddress({ config: { publicUrl }, now, timeoutMs }: CheckupDeps): Promise<Finding[]> {
  if (publicUrl === undefined) return [];
  try {
    const before = now();
    const signal = AbortSignal.timeout(timeoutMs);
    const { headers } = await fetch(`${publicUrl}/health/live`, { method: "HEAD", redirect: "manual", signal });
    const at = Date.parse(headers.get("date") ?? "");
    // The header has whole seconds.
    return Number.isNaN(at) ? [] : describeSkew(`the one of ${publicUrl}`, "clock", at + 500, before, now());
  } catch {
    // Another check says that nobody answers there.
    return [];
  }
}

/** @param theirs what another clock said between two looks at ours; epoch milliseconds all. */
function describeSkew(whose: string, subject: string, theirs: number, before: number, after: number): Finding[] {
  const skew = theirs > after ? theirs - after : theirs < before ? theirs - before : 0;
  if (Math.abs(skew) < 10_000) return [];
  const way = skew > 0 ? "behind" : "ahead of";
  return [
    {
      severity: Math.abs(skew) > wrongMs ? "error" : "warning",
      subject,
      message: `The clock is ${formatDuration(skew)} ${way} ${whose}. One-time codes and signed requests fail on one of them.`,
      remedy,
    },
  ];
}

function toText(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 16).replace("T", " ");
}
