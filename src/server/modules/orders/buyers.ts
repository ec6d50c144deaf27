import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { users } from "../users/table.ts";
import { cancelOrder } from "./service.ts";
import { orderLines, orders } from "./table.ts";

export interface BuyerReservations {
  /** The id of a customer, the keyed hash of a guest's address, or `staff` for guests' orders that staff or a backend made. */
  buyer: string;
  email: string | null;
  orders: number;
  pieces: number;
  /** When the first was made and the first expires, RFC 3339. */
  since: string;
  expires_at: string | null;
}

const isUnpaid = sql`o.tenant_id = ${param("tenantId")} and o.status = 'pending'`;
const buyerOf = sql`coalesce(o.buyer, o.user_id, 'staff')`;
const selectBuyers = statement<BuyerReservations>(sql`
  select ${buyerOf} as buyer, u.email, count(distinct o.id) as orders, sum(l.quantity) as pieces,
    min(o.created_at) as since, min(o.expires_at) as expires_at
  from ${orders} o join ${orderLines} l on l.order_id = o.id
    left join ${users} u on u.tenant_id = o.tenant_id and u.id = ${buyerOf}
  where ${isUnpaid} group by 1 order by pieces desc, since limit ${param("limit")}`);
const selectOfBuyer = statement<{ id: string; number: number }>(sql`
  select id, number from ${orders} o where ${isUnpaid} and ${buyerOf} = ${param("buyer")} order by number`);

/** Lists at most `limit` buyers whose unpaid orders reserve stock, the most pieces first. */
export function listBuyers(ctx: Ctx, limit: number): Promise<BuyerReservations[]> {
  return all(ctx.db, selectBuyers, { tenantId: ctx.tenant.id, limit });
}

/** The unpaid orders of a buyer, oldest first. @param buyer as `listBuyers` returns it. */
export function listUnpaid(ctx: Ctx, buyer: string): Promise<{ id: string; number: number }[]> {
  return all(ctx.db, selectOfBuyer, { tenantId: ctx.tenant.id, buyer });
}

/** Cancels all unpaid orders of a buyer, and releases what they reserve. Returns their numbers. */
export function cancelUnpaid(ctx: Ctx, buyer: string): Promise<number[]> {
  return inTransaction(ctx, async (tx) => {
    const unpaid = await listUnpaid(tx, buyer);
    for (const { id } of unpaid) await cancelOrder(tx, id);
    return unpaid.map(({ number }) => number);
  });
}
