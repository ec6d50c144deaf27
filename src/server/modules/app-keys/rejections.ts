import { and, desc, eq, notInArray, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import type { Database } from "../../db/session.ts";
import { all, bind, param, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { appKeys, rejectedOrigins } from "./table.ts";

/** A delay of a second does not matter to somebody who searches for the cause. */
const pauseMs = 1000;
const maxPerKey = 50;
const maxCharacters = 200;
/** Maximum number of origins that wait; further ones are not recorded. */
const maxWaiting = 1000;
const keptMs = 30 * 86_400_000;

const rows = sql`(select value ->> 'app_id' as app_id, value ->> 'origin' as origin, value ->> 'attempts' as attempts,
  value ->> 'first_at' as first_at, value ->> 'last_at' as last_at from json_each(${param("rows")})) r`;
// Deleted keys are skipped.
const addRows = statement(sql`
  insert into ${rejectedOrigins} (tenant_id, app_id, origin, attempts, first_at, last_at)
  select k.tenant_id, k.id, r.origin, r.attempts, r.first_at, r.last_at from ${rows} join ${appKeys} k on k.id = r.app_id
  where true
  on conflict (app_id, origin) do update set attempts = attempts + excluded.attempts,
    first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`);
const { origin, attempts, firstAt, lastAt } = rejectedOrigins;
const isOfKey = eq(rejectedOrigins.appId, param("appId"));
const removeBeyond = statement((q) => {
  const kept = q.select({ origin }).from(rejectedOrigins).where(isOfKey).orderBy(desc(lastAt), origin).limit(maxPerKey);
  return q.delete(rejectedOrigins).where(and(isOfKey, notInArray(origin, kept)));
});
const fields = { origin, attempts, first_at: firstAt, last_at: lastAt };
const selectRows = statement((q) =>
  q.select(fields).from(rejectedOrigins).where(isOfKey).orderBy(desc(lastAt), origin).limit(maxPerKey),
);

declare module "../../context.ts" {
  interface ProcessMemory {
    rejections: ReturnType<typeof createRejectionBuffer>;
  }
}

type Waiting = Awaited<ReturnType<typeof listRejections>>[number] & { app_id: string };

/**
 * Refusals are written together, outside requests. They only help to find a cause, so a failed write is not retried.
 */
export function createRejectionBuffer(db: Database) {
  let waiting = new Map<string, Waiting>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  /** Errors: those of the database; the origins are then dropped. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const taken = [...waiting.values()];
    waiting = new Map();
    const appIds = new Set(taken.map((one) => one.app_id));
    const bounds = [...appIds].map((appId) => bind(removeBeyond, { appId }));
    await db.batch([bind(addRows, { rows: JSON.stringify(taken) }), ...bounds]);
  }

  return {
    /** Records a refusal at this time in epoch milliseconds. Some are dropped when very many wait. */
    note(appId: string, sent: string | null, now: number): void {
      const origin = (sent ?? "").slice(0, maxCharacters);
      const key = `${appId} ${origin}`;
      const at = toTimestamp(now);
      const known = waiting.get(key);
      if (known !== undefined) {
        known.attempts += 1;
        known.last_at = at;
      } else if (waiting.size < maxWaiting) {
        waiting.set(key, { app_id: appId, origin, attempts: 1, first_at: at, last_at: at });
      }
      if (!isStopped) timer ??= setTimeout(() => flush().catch(() => {}), pauseMs);
    },
    flush,
    async stop(): Promise<void> {
      isStopped = true;
      await flush().catch(() => {});
    },
  };
}

/** The latest fifty at most, newest first. None for an unknown key. */
export function listRejections(ctx: SystemCtx, appId: string) {
  return all(ctx.db, selectRows, { appId });
}

export const purgeRejections = createPurge(rejectedOrigins, sql`last_at < ${param("before")}`, keptMs);
