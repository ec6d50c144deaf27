import { and, desc, eq, max } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../values/stamps.ts";
import { ambiguousName, maxCompared, unknownName } from "../../values/unknown-name.ts";
import { onlyNamespace, requireTenant } from "../tenants/service.ts";
import { getKey } from "./service.ts";
import { appKeys } from "./table.ts";

const { id, revokedAt, name } = appKeys;
const isNamed = and(ofStore(appKeys), eq(name, param("name")));
const selectNamed = statement((q) => q.select({ id, revokedAt }).from(appKeys).where(isNamed).orderBy(id));
const selectNames = statement((q) => {
  const names = q.select({ name }).from(appKeys).where(ofStore(appKeys)).groupBy(name);
  return names.orderBy(desc(max(id))).limit(maxCompared);
});

export async function resolveKeyId(ctx: SystemCtx, named: string, store: string | undefined): Promise<string> {
  if (isId("app", named)) {
    const key = await getKey(ctx, named);
    if (store === undefined || key.namespace === store) return named;
    await requireTenant(ctx, store);
    const remedy = `List keys: bodega key list -n ${store}`;
    throw notFound("key", named, { in: `store ${JSON.stringify(store)}`, remedy });
  }
  const namespace = store ?? (await onlyNamespace(ctx.db));
  if (namespace === undefined) {
    throw notFound("key", named, { remedy: "Name a key by its id, or by its name together with -n <namespace>." });
  }
  const tenant = await requireTenant(ctx, namespace);
  const found = await all(ctx.db, selectNamed, { tenantId: tenant.id, name: named });
  const valid = found.filter(({ revokedAt }) => revokedAt === null);
  const [only, ...others] = valid.length > 0 ? valid : found;
  if (only === undefined) {
    const names = (await all(ctx.db, selectNames, { tenantId: tenant.id })).map(({ name }) => name);
    throw unknownName("key", named, names, namespace);
  }
  if (others.length === 0) return only.id;
  throw ambiguousName("keys", named, namespace, [only.id, ...others.map(({ id }) => id)]);
}
