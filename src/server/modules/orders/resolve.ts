import { and, eq, max } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Ctx } from "../../context.ts";
import { ofStore } from "../../db/conditions.ts";
import { get, param, statement } from "../../db/statement.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { orders } from "./table.ts";

const ofOrders = ofStore(orders);
const selectBy = (column: SQLiteColumn) => {
  const isNamed = eq(column, param("name"));
  return statement((q) => q.select({ id: orders.id }).from(orders).where(and(ofOrders, isNamed)));
};
const selectById = selectBy(orders.id);
const selectByNumber = selectBy(orders.number);
const newest = max(orders.number);
const selectNewest = statement((q) => q.select({ newest }).from(orders).where(ofOrders));

export async function resolveOrderId(ctx: Ctx, idOrNumber: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const number = /^#?([1-9]\d{0,14})$/.exec(idOrNumber)?.[1];
  if (number !== undefined || isId("ord", idOrNumber)) {
    const select = number === undefined ? selectById : selectByNumber;
    const found = await get(ctx.db, select, { tenantId, name: number === undefined ? idOrNumber : Number(number) });
    if (found) return found.id;
  }
  const newest = (await get(ctx.db, selectNewest, { tenantId }))?.newest ?? null;
  const range = newest === null ? "The store has no orders yet." : `The highest order number is ${newest}.`;
  throw notFound("order", idOrNumber, {
    in: `store ${JSON.stringify(namespace)}`,
    remedy: `${range} List orders: bodega order list -n ${namespace}`,
  });
}
