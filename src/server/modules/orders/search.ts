import { desc, type SQL, sql } from "drizzle-orm";
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
const matching = sql`
  select id from ${orders} where ${ofOrders} and number = ${param("number")}
  union ${few(begins(sql`email_key`))}
  union ${few(sql`user_id in (select id from ${users} where ${ofStore(users)} and ${begins(sql`name_key`)} limit 1000)`)}`;
const selectFound = statement((q) => q.select({ id: sql<string>`id` }).from(sql`(${matching})`));
// Names in addresses have no index, because each new order would then write one more database page.
const names = sql<string>`concat_ws(' ', shipping_address ->> 'name', shipping_address ->> 'company',
  billing_address ->> 'name', billing_address ->> 'company')`;
const selectNames = statement((q) =>
  q.select({ id: orders.id, names }).from(orders).where(ofOrders).orderBy(desc(orders.number)).limit(2000),
);

/**
 * Returns the ids of orders that match a text: the number, the transfer reference, or the beginning of the email or of
 * the customer's name. In the newest 2000 orders, the text may also be any part of a name or company in an address.
 */
export async function findOrders(ctx: Ctx, text: string): Promise<string[]> {
  const q = nameKey(requireText("q", text, 100).trim());
  // All texts that begin with `q` sort between `q` and `q` with the highest character.
  const values = { tenantId: ctx.tenant.id, q, qEnd: `${q}\u{10ffff}`, number: readOrderNumber(text) ?? null };
  const [found, newest] = await Promise.all([all(ctx.db, selectFound, values), all(ctx.db, selectNames, values)]);
  const named = newest.filter(({ names }) => nameKey(names).includes(q)).slice(0, 1000);
  return [...found, ...named].map(({ id }) => id);
}
