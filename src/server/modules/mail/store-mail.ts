import { and, asc, eq } from "drizzle-orm";
import { pick } from "../../db/selection.ts";
import type { Executor } from "../../db/session.ts";
import { all, get, ofStore, statement } from "../../db/statement.ts";
import { selectSettings } from "../tenants/table.ts";
import { users } from "../users/table.ts";
import { type MailContents, type MailCtx, queueMail } from "./outbox.ts";

const selectNotified = selectSettings("notify");
const isOwner = and(ofStore(users), eq(users.role, "owner"), eq(users.status, "active"));
const selectOwners = statement((q) =>
  q
    .select(pick(users, "email", "name", "lang"))
    .from(users)
    .where(isOwner)
    .orderBy(asc(users.createdAt))
    .limit(10),
);

type StaffAddress = NonNullable<(typeof selectOwners)["row"]>;

/** The addresses that get mail for the store: those of its setting, or those of its owners. */
export async function listStaffAddresses(db: Executor, tenantId: string): Promise<StaffAddress[]> {
  const { notify = "[]" } = (await get(db, selectNotified, { tenantId })) ?? {};
  const addresses = (JSON.parse(notify) as string[]).map((email) => ({ email, name: null, lang: null }));
  return addresses.length > 0 ? addresses : all(db, selectOwners, { tenantId });
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
