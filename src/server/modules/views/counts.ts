import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import type { Database, Executor, Session } from "../../db/session.ts";
import { bind, get, param, run, statement } from "../../db/statement.ts";
import { forEachKind, hasRoom, isRowShown, isShown, type Resource } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { dayOf } from "./dedup-key.ts";
import { viewDays, viewDedupKeys } from "./table.ts";

const maxCached = 1000;

const select = forEachKind((kind) =>
  statement<{ views: number }>(sql`
    select coalesce((select views from ${resourceCounts} where tenant_id = ${param("tenantId")}
      and resource_type = ${param("type")} and resource_id = ${param("resourceId")}), 0) as views
    where ${isShown(kind)}`),
);

/** Reads the views of a resource, undefined for a hidden one. Those of a file are cached until anyone commits. */
export function createCountReader(db: Database) {
  const cached = new Map<string, number | undefined>();
  let version: number | null = null;

  return (tenantId: string, resource: Resource): Promise<number | undefined> | number | undefined => {
    const present = db.dataVersion();
    if (present === null) return read(db, tenantId, resource);
    if (present !== version || cached.size >= maxCached) {
      cached.clear();
      version = present;
    }
    const key = `${tenantId}\n${resource.type}\n${resource.id}`;
    if (cached.has(key)) return cached.get(key);
    return read(db, tenantId, resource).then((views) => {
      if (version === present) cached.set(key, views);
      return views;
    });
  };
}

async function read(db: Executor, tenantId: string, { kind, type, id }: Resource): Promise<number | undefined> {
  return (await get(db, select[kind], { tenantId, type, resourceId: id }))?.views;
}

const resource = sql`(select ${param("tenantId")} as tenant_id, ${param("resourceType")} as resource_type,
  ${param("resourceId")} as resource_id) r`;
// Leaves out resources that were hidden or deleted meanwhile, and those beyond the maximum.
const addKeys = statement(sql`
  insert into ${viewDedupKeys} (day, tenant_id, resource_type, resource_id, dedup_key)
  select ${param("day")}, r.tenant_id, r.resource_type, r.resource_id, m.value
  from ${resource}, json_each(${param("dedupKeys")}) m where ${isRowShown("r")} and ${isRowShown("r", hasRoom)}
  on conflict do nothing`);
const rows = sql`(select key as place, value ->> 0 as tenant_id, value ->> 1 as resource_type,
  value ->> 2 as resource_id, value ->> 3 as day, value ->> 4 as views from json_each(${param("groups")})) r`;
const addDays = statement(sql`
  insert into ${viewDays} (tenant_id, resource_type, resource_id, day, views)
  select tenant_id, resource_type, resource_id, day, views from ${rows} where views > 0
  on conflict (tenant_id, resource_type, resource_id, day) do update set views = views + excluded.views`);
const addCounts = statement(sql`
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, views)
  select tenant_id, resource_type, resource_id, sum(views) from ${rows} where views > 0 group by 1, 2, 3
  on conflict (tenant_id, resource_type, resource_id) do update set views = views + excluded.views`);
const keyColumns = sql`day, tenant_id, resource_type, resource_id, dedup_key`;
const removeOld = statement(sql`
  delete from ${viewDedupKeys} where (${keyColumns}) in (
    select ${keyColumns} from ${viewDedupKeys} where day < ${param("before")} limit 1000)`);
const selectHidden = statement(sql`select place from ${rows} where views = 0 and not ${isRowShown("r")}`);

export interface ViewGroup {
  tenantId: string;
  resourceType: string;
  resourceId: string;
  /** UTC, `2026-03-01`. */
  day: string;
  dedupKeys: string[];
}

/**
 * Writes views and adds them to the counts of days and in total, in one transaction. A view counts when its dedup key
 * is new, so that none counts twice, even in several processes.
 * @returns the groups that were not written, because their resource is hidden.
 */
export function writeViews(db: Session, groups: readonly ViewGroup[]): Promise<ViewGroup[]> {
  return db.transaction(async (tx) => {
    // Sorted, so that each page of a large table is touched once.
    const inserted = await tx.batch(
      groups.map(({ dedupKeys, ...of }) => bind(addKeys, { ...of, dedupKeys: JSON.stringify(dedupKeys.toSorted()) })),
    );
    const added = groups.map(({ tenantId, resourceType, resourceId, day }, place) => [
      tenantId,
      resourceType,
      resourceId,
      day,
      inserted[place]?.rowsAffected ?? 0,
    ]);
    const values = { groups: JSON.stringify(added) };
    const results = await tx.batch([addDays, addCounts, selectHidden].map((stmt) => bind(stmt, values)));
    const hidden = new Set((results[2]?.rows ?? []).map(({ place }) => place));
    return groups.filter((_, place) => hidden.has(place));
  });
}

/**
 * Removes the dedup keys of days before yesterday, at most a thousand a call. Yesterday's are kept, because the views
 * of its last second are written today, `doctor` compares counts with them, and a clock may be an hour behind. Returns
 * how many.
 */
export function purgeViewDedupKeys(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeOld, { before: dayOf(ctx.now() - 25 * 3_600_000) });
}
