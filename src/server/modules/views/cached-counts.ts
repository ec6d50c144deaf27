import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { forEachType, isShown, type Resource } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";

const maxCached = 1000;

const select = forEachType((type) =>
  statement<{ views: number }>(sql`
    select coalesce((select views from ${resourceCounts} where tenant_id = ${param("tenantId")}
      and resource_type = ${param("type")} and resource_id = ${param("resourceId")}), 0) as views
    where ${isShown(type)}`),
);

/** The views of a resource in the database, no row for a hidden one; for `batch`. */
export function bindCount(tenantId: string, { type, id }: Resource) {
  return bind(select[type], { tenantId, type, resourceId: id });
}

/**
 * Creates the function that returns the views of a resource in the database, undefined for a hidden one. Of a file they are
 * cached until anyone commits. Of a server, simultaneous calls share one query, so that a crowd costs one round trip.
 */
export function createCountReader(db: Database) {
  const cached = new Map<string, number | undefined>();
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
    if (present !== version || cached.size >= maxCached) {
      cached.clear();
      version = present;
    }
    const key = tenantId + resource.id;
    if (cached.has(key)) return cached.get(key);
    return read(db, tenantId, resource).then((views) => {
      if (version === present) cached.set(key, views);
      return views;
    });
  };
}

async function read(db: Executor, tenantId: string, { type, id }: Resource): Promise<number | undefined> {
  return (await get(db, select[type], { tenantId, type, resourceId: id }))?.views;
}
