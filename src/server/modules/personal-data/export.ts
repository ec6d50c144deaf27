import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { emailKey } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { auditLog } from "../audit/table.ts";
import { pushRegistrations } from "../notifications/table.ts";
import { readOrderPages } from "../orders/views.ts";
import { reactions } from "../reactions/table.ts";
import { rewardEntries } from "../rewards/table.ts";
import { userTokens } from "../tokens/table.ts";
import { getUser } from "../users/service.ts";
import { wishlistItems } from "../wishlist/table.ts";
import { findMailTo } from "./mail.ts";

type Row = Record<string, unknown>;

const select = (columns: string, table: SQL, condition = sql`user_id = ${param("id")}`) =>
  statement<Row>(sql`select ${sql.raw(columns)} from ${table} where tenant_id = ${param("tenantId")} and ${condition}`);
const sections = {
  sessions: select("id as token_id, created_at, expires_at, ended_at, ended_as", sql`${userTokens}`),
  devices: select("id, platform, lang, created_at, updated_at", sql`${pushRegistrations}`),
  rewards: select("id, kind, points, balance, source, order_id, note, created_at", sql`${rewardEntries}`),
  wishlist: select("id, product_id, variant_id, note, created_at, updated_at", sql`${wishlistItems}`),
  reactions: select("kind, resource_type, resource_id, created_at", sql`${reactions}`, sql`actor = ${param("id")}`),
};
const selectAudit = statement<Row & { details: string | null }>(sql`
  select at, event, actor_kind, actor_id, subject, address, code, details from ${auditLog} where seq in (
    select seq from ${auditLog} where subject = ${param("id")} union select seq from ${auditLog} where actor_id = ${param("id")})
  order by seq`);

/** All that the store keeps of a user, without hashes and secrets. Errors: notFound. */
export async function exportPerson(ctx: Ctx, id: string) {
  const user = await getUser(ctx, id);
  const values = { tenantId: ctx.tenant.id, id };
  const found = { orders: [] as Row[] };
  for await (const page of readOrderPages(ctx, { customer_id: id }))
    found.orders.push(...page.map(({ order }) => order));
  const rows = await Promise.all(
    Object.entries(sections).map(async ([name, of]) => [name, await all(ctx.db, of, values)] as const),
  );
  const [mail, audit] = await Promise.all([
    findMailTo(ctx, emailKey(user.email) ?? ""),
    all(ctx.db, selectAudit, { id }),
  ]);
  await recordAudit(ctx, { event: "user.exported", subject: id });
  const entries = audit.map(({ details, ...entry }) => ({ ...entry, details: details && JSON.parse(details) }));
  return { user, ...found, ...Object.fromEntries(rows), mail, audit: entries };
}
