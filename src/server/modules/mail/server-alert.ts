import { eq } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { tenants, workFields } from "../tenants/table.ts";
import type { MailCtx } from "./outbox.ts";
import { listStaffAddresses, mailStore } from "./store-mail.ts";

const selectStores = statement((q) =>
  q.select(workFields).from(tenants).where(eq(tenants.status, "active")).orderBy(tenants.namespace),
);

/**
 * Queues a mail about a problem of the server to the staff of each store, once for each cause. An address that several
 * stores name gets one mail.
 */
export async function mailServerAlert(
  ctx: Omit<MailCtx, "tenant">,
  { cause, ...values }: { cause: string; message: string; remedy: string },
): Promise<void> {
  const known = new Set<string>();
  for (const tenant of await all(ctx.db, selectStores)) {
    const addresses = (await listStaffAddresses(ctx.db, tenant.id)).filter(({ email }) => !known.has(email));
    for (const { email } of addresses) known.add(email);
    await inTransaction({ ...ctx, tenant }, (tx) => mailStore(tx, { kind: "server_alert", cause, values }, addresses));
  }
}
