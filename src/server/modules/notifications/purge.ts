import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { bind, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { pushDeliveries, pushMessages, pushRegistrations } from "./table.ts";

const keptMs = 30 * 86_400_000;

const isOld = (status: string) => sql`status = ${sql.raw(`'${status}'`)} and finished_at <= ${param("before")}`;
const oldFailures = sql`select registration_id from ${pushDeliveries}
  where (${isOld("failed")} or ${isOld("expired")}) and platform = 'web' and registration_id is not null limit 1000`;
const removeSilent = statement(sql`
  delete from ${pushRegistrations}
  where id in (${oldFailures}) and is_proven = 0 and updated_at <= ${param("before")}`);
const removeFinished = statement(sql`
  delete from ${pushDeliveries} where id in (select id from ${pushDeliveries}
    where ${isOld("sent")} or ${isOld("failed")} or ${isOld("dropped")} or ${isOld("expired")} limit 1000)`);
const removeMessages = statement(sql`
  delete from ${pushMessages} where id in (select id from ${pushMessages} m
    where m.created_at <= ${param("before")} and m.position is null
      and not exists(select 1 from ${pushDeliveries} d where d.message_id = m.id) limit 1000)`);

type Context = Pick<SystemCtx, "db" | "now">;

/**
 * Removes deliveries that ended thirty days ago, at most a thousand a call; and with those that failed, browsers where
 * nothing has ever arrived. Returns how many deliveries it removed.
 */
export async function purgePushes(ctx: Context): Promise<number> {
  const before = toTimestamp(ctx.now() - keptMs);
  const [, finished] = await ctx.db.batch([bind(removeSilent, { before }), bind(removeFinished, { before })]);
  return finished?.rowsAffected ?? 0;
}

/** Removes messages older than 30 days that have no deliveries left, at most a thousand per call. Returns how many. */
export function purgeMessages(ctx: Context): Promise<number> {
  return run(ctx.db, removeMessages, { before: toTimestamp(ctx.now() - keptMs) });
}
