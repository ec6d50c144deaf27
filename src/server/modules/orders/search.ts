import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { requireText } from "../../values/fields.ts";
import { nameKey } from "../users/input.ts";
import { users } from "../users/table.ts";
import { orders } from "./table.ts";
import { readOrderNumber } from "./transfer-reference.ts";

const ofOrders = ofStore(orders);
const begins = (column: SQL) => sql`${column} >= ${param("q")} and ${column} < ${param("qEnd")}`;
const few = (condition: SQL) =>
  sql`select id from (select id from ${orders} where ${ofOrders} and ${condition} limit 1000)`;
const selectFound = statement<{ id: string }>(sql`
  select id from ${orders} where ${ofOrders} and number = ${param("number")}
  union ${few(begins(sql`email_key`))}
  union ${few(sql`user_id in (select id from ${users} where ${ofStore(users)} and ${begins(sql`name_key`)} limit 1000)`)}`);
// Names in addresses have no index, because each order would write one more page for it.
const selectNames = statement<{ id: string; names: string }>(sql`
  select id, concat_ws(' ', shipping_address ->> 'name', shipping_address ->> 'company', billing_address ->> 'name',
    billing_address ->> 'company') as names
  from ${orders} where ${ofOrders} order by number desc limit 2000`);

/**
 * Returns the ids of the orders with a number or transfer reference, of the emails and customers' names that begin with
 * a text, and of the newest 2000 those with the text in a name or company of their addresses.
 */
export async function findOrders(ctx: Ctx, text: string): Promise<string[]> {
  const q = nameKey(requireText("q", text, 100).trim());
  // The highest character: all texts that begin with `q` sort between `q` and this.
  const values = { tenantId: ctx.tenant.id, q, qEnd: `${q}\u{10ffff}`, number: readOrderNumber(text) ?? null };
  const [found, newest] = await Promise.all([all(ctx.db, selectFound, values), all(ctx.db, selectNames, values)]);
  const named = newest.filter(({ names }) => nameKey(names).includes(q)).slice(0, 1000);
  return [...found, ...named].map(({ id }) => id);
}
