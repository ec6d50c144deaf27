import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { orders } from "./table.ts";

const selectById = statement<{ id: string }>(sql`
  select id from ${orders} where tenant_id = ${param("tenantId")} and id = ${param("name")}`);
const selectByNumber = statement<{ id: string }>(sql`
  select id from ${orders} where tenant_id = ${param("tenantId")} and number = ${param("name")}`);
const selectNewest = statement<{ newest: number | null }>(sql`
  select max(number) as newest from ${orders} where tenant_id = ${param("tenantId")}`);

/** Finds the id of an order by id or by number. Errors: notFound with the highest number. */
export async function resolveOrderId(ctx: Ctx, idOrNumber: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const number = /^#?([1-9]\d{0,14})$/.exec(idOrNumber)?.[1];
  if (number !== undefined || isId("ord", idOrNumber)) {
    const found =
      number === undefined
        ? await get(ctx.db, selectById, { tenantId, name: idOrNumber })
        : await get(ctx.db, selectByNumber, { tenantId, name: Number(number) });
    if (found) return found.id;
  }
  const newest = (await get(ctx.db, selectNewest, { tenantId }))?.newest ?? null;
  const range = newest === null ? "The store has no orders yet." : `The highest order number is ${newest}.`;
  throw notFound("order", idOrNumber, {
    in: `store ${JSON.stringify(namespace)}`,
    remedy: `${range} List orders: bodega order list -n ${namespace}`,
  });
}
