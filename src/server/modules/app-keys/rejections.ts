import { and, desc, eq, notInArray, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { all, bind, createPurge, param, statement } from "../../db/statement.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { appKeys, rejectedOrigins } from "./table.ts";

const everyMs = 1000;
const maxPerKey = 50;
const maxCharacters = 200;
const keptMs = 30 * 86_400_000;

// The key may have been deleted meanwhile.
const putRow = statement(sql`
  insert into ${rejectedOrigins} (tenant_id, app_id, origin, last_at)
  select tenant_id, id, ${param("origin")}, ${param("now")} from ${appKeys} where id = ${param("appId")}
  on conflict (app_id, origin) do update set last_at = excluded.last_at`);
const { origin, lastAt } = rejectedOrigins;
const isOfKey = eq(rejectedOrigins.appId, param("appId"));
const removeBeyond = statement((q) => {
  const kept = q.select({ origin }).from(rejectedOrigins).where(isOfKey).orderBy(desc(lastAt), origin).limit(maxPerKey);
  return q.delete(rejectedOrigins).where(and(isOfKey, notInArray(origin, kept)));
});
const selectRows = statement((q) =>
  q.select({ origin, last_at: lastAt }).from(rejectedOrigins).where(isOfKey).orderBy(desc(lastAt), origin),
);

/** Creates a function that records refused origins outside the request, at most one a second for each key. */
export function createRejectionRecorder(db: Database) {
  const recorded = new LruCache<number>(1000);
  return (appId: string, sent: string | null, now: number): void => {
    const origin = (sent ?? "").slice(0, maxCharacters);
    if (now - (recorded.get(appId) ?? 0) < everyMs) return;
    recorded.set(appId, now);
    const values = { appId, origin, now: toTimestamp(now) };
    db.batch([bind(putRow, values), bind(removeBeyond, values)]).catch(() => recorded.delete(appId));
  };
}

export function listRejections(ctx: SystemCtx, appId: string) {
  return all(ctx.db, selectRows, { appId });
}

export const purgeRejections = createPurge(rejectedOrigins, sql`last_at < ${param("before")}`, keptMs);
