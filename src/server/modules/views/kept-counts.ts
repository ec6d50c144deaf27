import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { forEachType, isShown, type Resource } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";

/** How many resources are remembered. */
const most = 1000;

const select = forEachType((type) =>
  statement<{ views: number }>(sql`
    select coalesce((select views from ${resourceCounts} where tenant_id = ${param("tenantId")}
      and resource_type = ${param("type")} and resource_id = ${param("resourceId")}), 0) as views
    where ${isShown(type)}`),
);

/** The views of a resource that are written down, no row for what is not shown; for `batch`. */
export function bindCount(tenantId: string, { type, id }: Resource) {
  return bind(select[type], { tenantId, type, resourceId: id });
}

/**
 * Makes the function that answers the views of a resource that are written down, undefined for what is not shown. Beside a
 * file they are remembered until anyone commits: what many look at is asked for thousands of times between two commits.
 * Elsewhere who asks while somebody else does gets the same answer, so that a crowd costs one round trip.
 */
export function createCountReader(db: Database) {
  const kept = new Map<string, number | undefined>();
  const asked = new Map<string, Promise<number | undefined>>();
  let version: number | null = null;

  function readOnce(tenantId: string, resource: Resource): Promise<number | undefined> {
    const key = tenantId + resource.id;
    const known = asked.get(key);
    if (known) return known;
    const answer = read(db, tenantId, resource).finally(() => asked.delete(key));
    asked.set(key, answer);
    return answer;
  }

  return (tenantId: string, resource: Resource): Promise<number | undefined> | number | undefined => {
    const present = db.dataVersion();
    if (present === null) return readOnce(tenantId, resource);
    if (present !== version || kept.size >= most) {
      kept.clear();
      version = present;
    }
    const key = tenantId + resource.id;
    if (kept.has(key)) return kept.get(key);
    return read(db, tenantId, resource).then((views) => {
      if (version === present) kept.set(key, views);
      return views;
    });
  };
}

async function read(db: Executor, tenantId: string, { type, id }: Resource): Promise<number | undefined> {
  return (await get(db, select[type], { tenantId, type, resourceId: id }))?.views;
}
