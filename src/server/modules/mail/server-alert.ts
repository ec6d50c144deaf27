import { eq } from "drizzle-orm";
import { sql } from "drizzle-orm/sql";
import { alias } from "drizzle-orm/sqlite-core";
import type { Tenant } from "../../context.ts";
import { all, statement } from "../../db/statement.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import type { MailCtx } from "./outbox.ts";
import { listStaffAddresses, mailStore } from "./store-mail.ts";

const t = alias(tenants, "t");
const selectStores = statement((q) =>
  q
    .select({ tenant: sql<string>`${tenantForWork}` })
    .from(t)
    .where(eq(t.status, "active"))
    .orderBy(t.id)
    .limit(100),
);

interface ServerAlert {
  /** Mails with the same cause are queued once. */
  cause: string;
  message: string;
  remedy: string;
}

/** Queues a mail about a problem of the server, to whoever gets the mail of a store; one for each address. */
export async function mailServerAlert(ctx: Omit<MailCtx, "tenant">, { cause, ...values }: ServerAlert): Promise<void> {
  const known = new Set<string>();
  for (const { tenant: json } of await all(ctx.db, selectStores)) {
    const tenant = JSON.parse(json) as Tenant;
    const addresses = (await listStaffAddresses(ctx.db, tenant.id)).filter(({ email }) => !known.has(email));
    for (const { email } of addresses) known.add(email);
    await mailStore({ ...ctx, tenant }, { kind: "server_alert", cause, values }, addresses);
  }
}
