import { sql } from "drizzle-orm";
import type { SystemCtx, WorkCtx } from "../../context.ts";
import { purgeBatch } from "../../db/purge.ts";
import { bind, param, run, statement } from "../../db/statement.ts";
import { notFound, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { reactions } from "../reactions/table.ts";
import { tenants } from "../tenants/table.ts";
import { viewDays, viewDedupKeys } from "../views/table.ts";
import { parseTypeName } from "./registry.ts";
import { resourceCounts, resourceTypes } from "./table.ts";

const maxTypes = 20;
const batch = sql.raw(String(purgeBatch));

const tenantId = sql`(select id from ${tenants} where namespace = ${param("namespace")})`;
const declareType = statement(sql`
  insert into ${resourceTypes} (tenant_id, name) select ${tenantId}, ${param("name")}
  where (select count(*) from ${resourceTypes} where tenant_id = ${tenantId} and removed_at is null
    and name <> ${param("name")}) < ${sql.raw(String(maxTypes))}
  on conflict (tenant_id, name) do update set name = name where removed_at is null`);
const removeType = statement(sql`
  update ${resourceTypes} set removed_at = coalesce(removed_at, ${param("now")})
  where tenant_id = ${tenantId} and name = ${param("name")}`);

/** Types to declare and to remove, by name. */
export interface TypeChanges {
  declare: readonly string[];
  remove: readonly string[];
}

/**
 * Declares and removes types of a store. The resources of a removed type cannot be liked or viewed any more; what they
 * have is deleted by `purgeRemovedTypes`. Errors: validationFailed, notFound, wrongState for too many types, and for one
 * that is being purged.
 */
export async function changeTypes(tx: SystemCtx, namespace: string, { declare, remove }: TypeChanges): Promise<void> {
  const now = toTimestamp(tx.now());
  for (const name of remove) {
    if ((await run(tx.db, removeType, { namespace, name, now })) === 0) throw notFound("resource type", name);
  }
  for (const name of declare) {
    if ((await run(tx.db, declareType, { namespace, name: parseTypeName(name) })) > 0) continue;
    const reason = `has ${maxTypes} resource types, the maximum, or still deletes those of the type ${name}`;
    throw wrongState(`Store "${namespace}" ${reason}.`);
  }
}

const removed = sql`select tenant_id, name from ${resourceTypes} where removed_at is not null`;
const isRemoved = sql`(tenant_id, resource_type) in (${removed})`;
// The dedup keys are purged daily by their first column, the day.
const days = sql`day in (select value from json_each(${param("days")}))`;
const purges = [
  { table: reactions, key: sql.raw("tenant_id, resource_type, resource_id, kind, actor"), where: isRemoved },
  { table: viewDays, key: sql.raw("tenant_id, resource_type, resource_id, day"), where: isRemoved },
  {
    table: viewDedupKeys,
    key: sql.raw("day, tenant_id, resource_type, resource_id, dedup_key"),
    where: sql`${days} and ${isRemoved}`,
  },
  { table: resourceCounts, key: sql.raw("tenant_id, resource_type, resource_id"), where: isRemoved },
].map(({ table, key, where }) =>
  statement(sql`delete from ${table} where (${key}) in (select ${key} from ${table} where ${where} limit ${batch})`),
);
const left = [reactions, viewDays, resourceCounts].map(
  (table) => sql`not exists (select 1 from ${table} r
    where r.tenant_id = ${resourceTypes}.tenant_id and r.resource_type = ${resourceTypes}.name)`,
);
const deletePurged = statement(
  sql`delete from ${resourceTypes} where removed_at is not null and ${sql.join(left, sql` and `)}`,
);

const dayMs = 86_400_000;

/**
 * Deletes likes, bookmarks and views of removed types, up to a thousand rows of each table. Returns how many rows; after
 * the last call, 0, the types can be declared again.
 */
export async function purgeRemovedTypes({ db, now }: WorkCtx): Promise<number> {
  const recent = [-1, 0, 1, 2].map((back) => toTimestamp(now() - back * dayMs).slice(0, 10));
  const values = { days: JSON.stringify(recent) };
  const done = await db.batch([...purges, deletePurged].map((purge) => bind(purge, values)));
  return done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
}
