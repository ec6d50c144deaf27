import { sql } from "drizzle-orm";
import type { Session } from "../../db/session.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { isRowShown } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { viewDays, viewDedupKeys } from "./table.ts";
import type { WaitingViews } from "./waiting.ts";

const resource = sql`(select ${param("tenantId")} as tenant_id, ${param("resourceType")} as resource_type,
  ${param("resourceId")} as resource_id) r`;
// What has been hidden or deleted meanwhile, its store included, is left out.
const addMarks = statement(sql`
  insert into ${viewDedupKeys} (day, tenant_id, resource_type, resource_id, dedup_key)
  select ${param("day")}, r.tenant_id, r.resource_type, r.resource_id, m.value
  from ${resource}, json_each(${param("marks")}) m where ${isRowShown("r")}
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
const selectHidden = statement(sql`select place from ${rows} where views = 0 and not ${isRowShown("r")}`);

/**
 * Writes views down with what they add to days and totals, in one transaction. A view counts for who marks it first, so
 * that none counts twice whichever processes have noted it.
 * @returns the groups that were not written down, since their resource is not shown any more.
 */
export function writeViews(db: Session, groups: readonly WaitingViews[]): Promise<WaitingViews[]> {
  return db.transaction(async (tx) => {
    // In their order, so that each page of a large table is touched once.
    const marked = await tx.batch(
      groups.map(({ marks, ...of }) => bind(addMarks, { ...of, marks: JSON.stringify(marks.toSorted()) })),
    );
    const added = groups.map(({ tenantId, resourceType, resourceId, day }, place) => [
      tenantId,
      resourceType,
      resourceId,
      day,
      marked[place]?.rowsAffected ?? 0,
    ]);
    const values = { groups: JSON.stringify(added) };
    const results = await tx.batch([addDays, addCounts, selectHidden].map((stmt) => bind(stmt, values)));
    const hidden = new Set((results[2]?.rows ?? []).map(({ place }) => place));
    return groups.filter((_, place) => hidden.has(place));
  });
}
