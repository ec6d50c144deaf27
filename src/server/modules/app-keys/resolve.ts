import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { ambiguousName, mostCompared, unknownName } from "../../values/unknown-name.ts";
import { requireTenant } from "../tenants/service.ts";
import { requireKey } from "./service.ts";
import { appKeys } from "./table.ts";

const param = sql.placeholder;

const selectNamed = statement<{ id: string; revoked_at: string | null }>(sql`
  select id, revoked_at from ${appKeys} where tenant_id = ${param("tenantId")} and name = ${param("name")} order by id`);
const selectNames = statement<{ name: string }>(sql`
  select name from ${appKeys} where tenant_id = ${param("tenantId")} group by name order by max(id) desc
  limit ${param("most")}`);

/**
 * The `app_id` of a key that is named by it, or by its name within a store. A key that is in force goes before revoked
 * ones of the same name.
 * @param namespace the store it must belong to; without it only an id names a key.
 * @throws AppError 5301 for a key or store that is not there, 5302 for a name that several keys have.
 */
export async function resolveKeyId(ctx: SystemCtx, named: string, namespace: string | undefined): Promise<string> {
  if (isId("app", named)) {
    const key = await requireKey(ctx, named);
    if (namespace === undefined || key.namespace === namespace) return named;
    await requireTenant(ctx, namespace);
    throw new AppError(5301, `There is no key ${JSON.stringify(named)} in tenant ${namespace}.`);
  }
  if (namespace === undefined) {
    throw new AppError(5301, `There is no key ${JSON.stringify(named)}.`, {
      remedy: "A key is named by its id, or by its name together with -n <namespace>.",
    });
  }
  const tenant = await requireTenant(ctx, namespace);
  const found = await all(ctx.db.primary, selectNamed, { tenantId: tenant.id, name: named });
  const standing = found.filter(({ revoked_at }) => revoked_at === null);
  const [only, ...others] = standing.length > 0 ? standing : found;
  const quoted = JSON.stringify(named);
  if (only === undefined) {
    const rows = await all(ctx.db.primary, selectNames, { tenantId: tenant.id, most: mostCompared });
    throw unknownName(`There is no key ${quoted} in tenant ${namespace}.`, named, {
      names: rows.map(({ name }) => name),
      list: `bodega key list -n ${namespace}`,
    });
  }
  if (others.length === 0) return only.id;
  throw ambiguousName(
    `${1 + others.length} keys of tenant ${namespace} are named ${quoted}.`,
    [only, ...others].map(({ id }) => id),
  );
}
