import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { tenants } from "../tenants/table.ts";
import { parseTypeName } from "./registry.ts";
import { resourceTypes } from "./table.ts";

const maxTypes = 20;
const tenantId = sql`(select id from ${tenants} where namespace = ${param("namespace")})`;
const declareType = statement(sql`
  insert into ${resourceTypes} (tenant_id, name) select ${tenantId}, ${param("name")}
  where (select count(*) from ${resourceTypes} where tenant_id = ${tenantId} and name <> ${param("name")})
    < ${sql.raw(String(maxTypes))}
  on conflict (tenant_id, name) do update set name = name`);
const removeType = statement(sql`
  delete from ${resourceTypes} where tenant_id = ${tenantId} and name = ${param("name")} and resources = 0`);

/** Types to declare and to remove, by name. */
export interface TypeChanges {
  declare: readonly string[];
  remove: readonly string[];
}

/**
 * Declares types of a store, and removes some that have no likes, bookmarks and views. Errors: validationFailed;
 * wrongState for too many types, and for one that cannot be removed.
 */
export async function changeTypes(tx: SystemCtx, namespace: string, { declare, remove }: TypeChanges): Promise<void> {
  for (const name of remove) {
    if ((await run(tx.db, removeType, { namespace, name })) > 0) continue;
    throw wrongState(`Store "${namespace}" has no resource type ${name} without likes, bookmarks and views.`);
  }
  for (const name of declare) {
    if ((await run(tx.db, declareType, { namespace, name: parseTypeName(name) })) > 0) continue;
    throw wrongState(`Store "${namespace}" has ${maxTypes} resource types, the maximum.`);
  }
}
