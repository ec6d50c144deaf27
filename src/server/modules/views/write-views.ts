import { sql } from "drizzle-orm";
import type { Session } from "../../db/session.ts";
import { bind, statement } from "../../db/statement.ts";
import { isRowShown } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { viewDays, viewMarks } from "./table.ts";
import type { WaitingViews } from "./waiting.ts";

const param = sql.placeholder;

// What has been hidden or deleted meanwhile, its store included, is left out.
const shown = sql`shown as materialized (
  select * from (
    select value ->> 0 as tenant_id, value ->> 1 as resource_type, value ->> 2 as resource_id, value ->> 3 as day,
      value -> 4 as marks
    from json_each(${param("views")})) r
  where ${isRowShown("r")})`;
const fresh = sql`fresh as materialized (
  select s.tenant_id, s.resource_type, s.resource_id, s.day, count(distinct m.value) as views
  from shown s, json_each(s.marks) m
  where not exists (
    select 1 from ${viewMarks} v where v.day = s.day and v.tenant_id = s.tenant_id
      and v.resource_type = s.resource_type and v.resource_id = s.resource_id and v.mark = m.value)
  group by 1, 2, 3, 4)`;
// Counted before they are marked, in one transaction: what another process has marked counts no more.
const addDays = statement(sql`
  with ${shown}, ${fresh}
  insert into ${viewDays} (tenant_id, resource_type, resource_id, day, views)
  select tenant_id, resource_type, resource_id, day, views from fresh where true
  on conflict (tenant_id, resource_type, resource_id, day) do update set views = views + excluded.views`);
const addCounts = statement(sql`
  with ${shown}, ${fresh}
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, views)
  select tenant_id, resource_type, resource_id, sum(views) from fresh group by 1, 2, 3
  on conflict (tenant_id, resource_type, resource_id) do update set views = views + excluded.views`);
const addMarks = statement(sql`
  with ${shown}
  insert into ${viewMarks} (day, tenant_id, resource_type, resource_id, mark)
  select s.day, s.tenant_id, s.resource_type, s.resource_id, m.value from shown s, json_each(s.marks) m where true
  on conflict do nothing`);
const selectShown = statement(sql`
  select place from (
    select key as place, value ->> 0 as tenant_id, value ->> 1 as resource_type, value ->> 2 as resource_id
    from json_each(${param("views")})) r
  where ${isRowShown("r")}`);

/**
 * Writes views down, each once, with what they add to days and totals, in one transaction.
 * @returns those of what is not shown any more, which are not written down.
 */
export async function writeViews(db: Session, groups: readonly WaitingViews[]): Promise<WaitingViews[]> {
  const rows = groups.map(({ tenantId, resourceType, resourceId, day, marks }) => [
    tenantId,
    resourceType,
    resourceId,
    day,
    marks,
  ]);
  const values = { views: JSON.stringify(rows) };
  const results = await db.batch([addDays, addCounts, addMarks, selectShown].map((stmt) => bind(stmt, values)));
  const places = new Set((results[3]?.rows ?? []).map(({ place }) => place));
  return groups.filter((_, place) => !places.has(place));
}
