import { sql } from "drizzle-orm";
import type { Executor } from "../../db/session.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { tenants } from "../tenants/table.ts";
import { users } from "../users/table.ts";
import { type MailContents, type MailCtx, queueMail } from "./outbox.ts";

/** Selects the addresses in the store's setting `notify`; if the setting is empty, the addresses of the owners. */
const staff = sql`
  with notified as (select value as email from ${tenants}, json_each(${tenants.notify}) where ${tenants.id} = ${param("tenantId")})
  select email, null as name, null as lang from notified
  union all select email, name, lang from (
    select email, name, lang from ${users}
    where ${ofStore(users)} and role = 'owner' and status = 'active' and not exists (select 1 from notified)
      and (password_hash is not null or email_verified)
    order by created_at limit 10)`;
const selectStaff = statement<{ email: string; name: string | null; lang: string | null }>(staff);

/** SQL for the same addresses as a JSON array, which other queries select as a column. */
export const staffAddresses = sql<string>`(
  select json_group_array(json_object('email', email, 'name', name, 'lang', lang)) from (${staff}))`;

export type StaffAddress = NonNullable<(typeof selectStaff)["row"]>;

/** Lists the addresses that get mail for the store: those of its setting `notify`, or else those of its owners. */
export function listStaffAddresses(db: Executor, tenantId: string): Promise<StaffAddress[]> {
  return all(db, selectStaff, { tenantId });
}

/** Queues a mail for the store, once for each cause and address. */
export async function mailStore(
  ctx: MailCtx,
  mail: Omit<MailContents, "to"> & {
    kind: "new_order" | "needs_attention" | "low_stock" | "server_alert";
    cause: string;
  },
  addresses?: readonly StaffAddress[],
): Promise<void> {
  for (const to of addresses ?? (await listStaffAddresses(ctx.db, ctx.tenant.id))) {
    await queueMail(ctx, { ...mail, to, cause: `${mail.cause}:${to.email}` });
  }
}
