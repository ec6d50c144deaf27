import { sql } from "drizzle-orm";
import { get, statement } from "../../db/statement.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { events } from "../../modules/events/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { type CheckSubject, type EnvironmentCheck, finding } from "../finding.ts";

const minMs = 10_000;
/** One-time codes tolerate half a minute; everything else more. */
const errorMs = 5 * 60_000;

// The newest rows by sequence, which does not depend on the clock.
const selectNewest = statement<{ at: string | null }>(sql`
  select max(at) as at from (
    select * from (select at from ${auditLog} order by seq desc limit 1)
    union all select * from (select created_at as at from ${events} order by sequence desc limit 1))`);

/** Another clock, read between two readings of this machine's; all in epoch milliseconds. */
interface Comparison {
  name: string;
  before: number;
  theirs: number;
  after: number;
}

export const clock = {
  id: "clock",
  about: "The clock of this machine agrees with the data, the database server and the public URL.",
  async run(subject) {
    const compared = await Promise.all([compareData(subject), compareDatabase(subject), comparePublicUrl(subject)]);
    return compared.filter((one) => one !== null).flatMap(describeSkew);
  },
} satisfies EnvironmentCheck;

async function compareData({ ctx, now }: CheckSubject): Promise<Comparison | null> {
  const at = ctx && (await get(ctx.db, selectNewest))?.at;
  const theirs = Date.parse(at ?? "");
  // Only data from the future shows a wrong clock. A minute is tolerated, because several machines may write.
  return theirs - now() > 60_000 ? { name: `the newest data (${at})`, before: now(), theirs, after: now() } : null;
}

async function compareDatabase({ ctx, config, now }: CheckSubject): Promise<Comparison | null> {
  if (ctx === null || config.databaseUrl === undefined) return null;
  const before = now();
  const { rows } = await ctx.db.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at");
  return { name: "the database server", before, theirs: Date.parse(String(rows[0]?.at)), after: now() };
}

async function comparePublicUrl({ config: { publicUrl }, now, timeoutMs }: CheckSubject): Promise<Comparison | null> {
  if (publicUrl === undefined) return null;
  try {
    const before = now();
    const signal = AbortSignal.timeout(timeoutMs);
    const { headers } = await fetch(`${publicUrl}/health/live`, { method: "HEAD", redirect: "manual", signal });
    // The header has whole seconds.
    const theirs = Date.parse(headers.get("date") ?? "") + 500;
    return Number.isNaN(theirs) ? null : { name: publicUrl, before, theirs, after: now() };
  } catch {
    return null; // The check of the address reports it.
  }
}

function describeSkew({ name, before, theirs, after }: Comparison) {
  const skew = theirs > after ? theirs - after : theirs < before ? theirs - before : 0;
  if (Math.abs(skew) < minMs) return [];
  const way = skew > 0 ? "behind" : "ahead of";
  const message = `The clock of this machine is ${formatDuration(skew)} ${way} ${name}. One-time codes and signed requests fail.`;
  return [finding(Math.abs(skew) > errorMs ? "error" : "warning", "clock", message, "timedatectl set-ntp true")];
}
